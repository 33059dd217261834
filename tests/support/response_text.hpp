#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rest_echo/http/field.hpp"

namespace rest_echo::test {

/// A response as a client reads it.
struct Response {
  int status = 0;
  std::string reason;
  std::vector<std::pair<std::string, std::string>> fields;
  /// Nothing for 204 and for an answer to HEAD.
  std::optional<std::string> content;

  /// The value of the field, in the spelling that we send; nothing unless it is there once.
  [[nodiscard]] std::optional<std::string> field(std::string_view name) const {
    std::optional<std::string> value;
    for (const auto& [field_name, field_value] : fields) {
      if (field_name != name) continue;
      if (value) return std::nullopt;
      value = field_value;
    }
    return value;
  }
};

inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

/// Takes every `100 Continue` out of `sent` and returns how many there were. Content of ours never holds one.
inline std::size_t take_continues(std::string& sent) {
  std::size_t count = 0;
  for (std::size_t at = sent.find(kContinue); at != std::string::npos; at = sent.find(kContinue, at)) {
    sent.erase(at, kContinue.size());
    ++count;
  }
  return count;
}

/// Reads final responses one behind the other. An answer to HEAD is known by what follows it: the end or the
/// next status line, where no content of ours can begin like that. Returns what is wrong, or nothing.
inline std::optional<std::string> read_responses(std::string_view sent, std::vector<Response>& responses) {
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  while (!sent.empty()) {
    const std::size_t head_size = sent.find("\r\n\r\n");
    if (head_size == std::string_view::npos) return "a head without an end";
    std::string_view lines = sent.substr(0, head_size + 2);
    sent.remove_prefix(head_size + 4);
    const auto take_line = [&lines] {
      const std::size_t size = lines.find("\r\n");
      const std::string_view line = lines.substr(0, size);
      lines.remove_prefix(size + 2);
      return line;
    };

    Response response;
    const std::string_view status_line = take_line();
    if (!status_line.starts_with(kVersion) || status_line.size() < 14 || status_line[12] != ' ')
      return "a bad status line";
    const char* const digits = status_line.data() + kVersion.size();
    if (std::from_chars(digits, digits + 3, response.status).ptr != digits + 3) return "a bad status code";
    response.reason = status_line.substr(13);
    while (!lines.empty()) {
      const std::string_view line = take_line();
      const std::size_t colon = line.find(": ");
      if (colon == 0 || colon == std::string_view::npos) return "a bad field line";
      const std::string_view name = line.substr(0, colon);
      const std::string_view value = line.substr(colon + 2);
      if (!std::ranges::all_of(name, [](char octet) { return http::kTokenOctet[octet]; }))
        return "a bad field name";
      if (value.empty() || http::trim_ows(value) != value || value.find_first_of("\r\n") != value.npos)
        return "a bad field value";
      response.fields.emplace_back(name, value);
    }

    std::size_t length = 0;
    const std::optional<std::string> length_text = response.field("Content-Length");
    if (length_text) {
      const char* const end = length_text->data() + length_text->size();
      if (std::from_chars(length_text->data(), end, length).ptr != end) return "a bad Content-Length";
      const bool is_to_head = length > 0 && (sent.empty() || sent.starts_with(kVersion));
      if (!is_to_head) {
        if (sent.size() < length) return "content shorter than its Content-Length";
        response.content = sent.substr(0, length);
        sent.remove_prefix(length);
      }
    } else if (response.status != 204) {
      return "neither 204 nor a Content-Length";
    }
    responses.push_back(std::move(response));
  }
  return std::nullopt;
}

/// What every response must keep to, whatever was asked; `is_last` of those before the connection closes.
/// Returns what is wrong, or nothing.
inline std::optional<std::string> find_flaw(const Response& response, bool is_last, bool closes,
                                            std::string_view date) {
  for (const auto& [name, value] : response.fields) {
    if (!response.field(name)) return "two fields " + name;
  }
  if (response.field("Date") != date) return "no Date, or not the time it is";
  if (response.field("Transfer-Encoding")) return "a Transfer-Encoding";
  const bool says_close = response.field("Connection") == "close";
  if (says_close && !is_last) return "something sent after Connection: close";
  if (says_close != (is_last && closes)) return closes ? "closes without saying so" : "says close, but stays";
  if (response.status == 204) {
    if (response.field("Content-Length") || response.field("Content-Type")) return "content of a 204";
    return std::nullopt;
  }
  const std::optional<std::string> type = response.field("Content-Type");
  if (!type) return "no Content-Type";
  if (response.status == 405 && !response.field("Allow")) return "405 without Allow";
  if (response.status < 400) return std::nullopt;

  if (type != "application/problem+json") return "an error that is no problem document";
  if (!response.content) return std::nullopt;
  const std::string start = "{\"title\":\"" + response.reason +
                            "\",\"status\":" + std::to_string(response.status) + ",\"detail\":\"";
  const std::string& content = *response.content;
  if (!content.starts_with(start) || !content.ends_with("}")) return "no title, status or detail: " + content;
  const std::size_t detail_size = content.find('"', start.size()) - start.size();
  if (detail_size < 8 || content.substr(start.size(), detail_size).find('\\') != std::string::npos)
    return "no plain detail: " + content;
  return std::nullopt;
}

}  // namespace rest_echo::test
