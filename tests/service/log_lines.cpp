#include "service/log_lines.hpp"

#include <simdjson.h>

#include <charconv>

#include "service/text.hpp"

namespace rest_echo::e2e {
namespace {

bool take(std::string_view& rest, std::string_view text) {
  if (!rest.starts_with(text)) return false;
  rest.remove_prefix(text.size());
  return true;
}

std::string_view take_until(std::string_view& rest, std::string_view octets) {
  const std::string_view taken = rest.substr(0, rest.find_first_of(octets));
  rest.remove_prefix(taken.size());
  return taken;
}

template <typename Number>
bool take_number(std::string_view& rest, Number& number) {
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc{} || *rest.data() == '-') return false;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return true;
}

bool read_time(const std::string& text, const char* format, std::time_t& seconds) {
  std::tm utc{};
  const char* const end = ::strptime(text.c_str(), format, &utc);
  seconds = ::timegm(&utc);
  return end != nullptr && *end == '\0';
}

bool is_printable(std::string_view text) {
  return text.find_first_not_of(
             " !\"#$%&'()*+,-./"
             "0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~") ==
         std::string_view::npos;
}

// The inside of a quoted string and the quote that ends it; `\"`, `\\` and `\xhh` stand for an octet.
bool take_quoted_rest(std::string_view& rest, std::string& octets) {
  while (!rest.empty()) {
    if (take(rest, "\"")) return true;
    if (!take(rest, "\\")) {
      octets += rest.front();
      rest.remove_prefix(1);
    } else if (rest.starts_with('"') || rest.starts_with('\\')) {
      octets += rest.front();
      rest.remove_prefix(1);
    } else {
      unsigned char octet = 0;
      if (!take(rest, "x") || rest.size() < 2) return false;
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + 2, octet, 16);
      if (error != std::errc{} || end != rest.data() + 2) return false;
      octets += static_cast<char>(octet);
      rest.remove_prefix(2);
    }
  }
  return false;
}

// Code points below 256 are octets.
std::optional<std::string> octets_of(std::string_view utf8) {
  std::string octets;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto first = static_cast<unsigned char>(utf8[i]);
    if (first < 0x80) {
      octets += utf8[i];
    } else if ((first == 0xc2 || first == 0xc3) && i + 1 < utf8.size()) {
      const auto second = static_cast<unsigned char>(utf8[++i]);
      octets += static_cast<char>((first & 3U) << 6U | (second & 0x3fU));
    } else {
      return std::nullopt;
    }
  }
  return octets;
}

}  // namespace

std::optional<LogLine> read_text_line(std::string_view line) {
  LogLine read;
  if (!is_printable(line)) return std::nullopt;
  read.client = take_until(line, " ");
  if (read.client.empty() || !take(line, " - - [")) return std::nullopt;
  const std::string time(take_until(line, "]"));
  if (!read_time(time, "%d/%b/%Y:%H:%M:%S +0000", read.seconds)) return std::nullopt;
  if (!take(line, "] \"") || !take_quoted_rest(line, read.request)) return std::nullopt;
  if (read.request == "-") read.request.clear();
  const bool is_whole = take(line, " ") && take_number(line, read.status) && take(line, " ") &&
                        take_number(line, read.size) && line.empty();
  return is_whole ? std::optional(read) : std::nullopt;
}

std::optional<LogLine> read_json_line(std::string_view line) {
  if (!is_printable(line)) return std::nullopt;
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(simdjson::padded_string(line)).get(object) != simdjson::SUCCESS) return std::nullopt;
  std::string names;
  for (const auto member : object) names += std::string(member.key) + " ";
  if (names != "time client request status size ") return std::nullopt;
  LogLine read;
  std::string_view time;
  std::string_view client;
  std::string_view request;
  std::uint64_t status = 0;
  std::uint64_t size = 0;
  if (object["time"].get(time) != simdjson::SUCCESS || object["client"].get(client) != simdjson::SUCCESS ||
      object["request"].get(request) != simdjson::SUCCESS ||
      object["status"].get(status) != simdjson::SUCCESS || object["size"].get(size) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  const std::optional<std::string> octets = octets_of(request);
  if (!octets || !read_time(std::string(time), "%Y-%m-%dT%H:%M:%SZ", read.seconds)) return std::nullopt;
  read.client = client;
  read.request = *octets;
  read.status = static_cast<int>(status);
  read.size = static_cast<std::size_t>(size);
  return read;
}

std::vector<std::string> lines_since_listening(const std::string& output) {
  const std::size_t listening = output.find("Listening on ");
  const std::size_t begin = listening == std::string::npos ? listening : output.find('\n', listening);
  return begin == std::string::npos ? std::vector<std::string>{}
                                    : split_lines(std::string_view(output).substr(begin + 1));
}

}  // namespace rest_echo::e2e
