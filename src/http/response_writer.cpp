#include "rest_echo/http/response_writer.hpp"

#include <fmt/format.h>

#include <cstring>

namespace rest_echo::http {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";
/// Holds any head but its `more_field_lines`; the longest has some 190 octets.
constexpr std::size_t kHeadSizeMax = 256;

constexpr std::string_view media_type_text(MediaType type) {
  switch (type) {
    case MediaType::json: return "application/json";
    case MediaType::text: return "text/plain; charset=utf-8";
    case MediaType::problem: return "application/problem+json";
  }
  return "";
}

constexpr std::string_view connection_field_line(Persistence persistence) {
  switch (persistence) {
    case Persistence::stays: return "";
    case Persistence::closes: return "Connection: close\r\n";
    case Persistence::stays_http_1_0: return "Connection: keep-alive\r\n";
  }
  return "";
}

char* put(char* to, std::string_view text) { return to + text.copy(to, text.size()); }

// Status line, Date and whatever else does not depend on the content.
char* put_common_head(char* to, const ResponseHead& head, std::string_view date) {
  return fmt::format_to(to, "HTTP/1.1 {} {}\r\nDate: {}\r\n{}{}", static_cast<int>(head.status),
                        reason_phrase(head.status), date, connection_field_line(head.persistence),
                        head.more_field_lines);
}

char* put_head_without_length(char* to, const ResponseHead& head, std::string_view date) {
  return fmt::format_to(put_common_head(to, head, date),
                        "Content-Type: {}\r\nContent-Length: ", media_type_text(head.media_type));
}

}  // namespace

ResponseWriter::ResponseWriter() { set_time(0); }

void ResponseWriter::set_time(std::time_t seconds_since_epoch) {
  if (!date_.set(seconds_since_epoch)) return;
  std::array<char, kHeadSizeMax> text;
  for (MediaType type : {MediaType::json, MediaType::text, MediaType::problem}) {
    char* const end = put_head_without_length(text.data(), {.media_type = type}, date_.text());
    prepared_[static_cast<std::size_t>(type)].assign(text.data(), end);
  }
}

char* ResponseWriter::begin(WriteBuffer& out, const ResponseHead& head, std::size_t content_size_max) {
  const bool is_common =
      head.status == Status::ok && head.persistence == Persistence::stays && head.more_field_lines.empty();
  char* const start = out.reserve(kHeadSizeMax + head.more_field_lines.size() + content_size_max);
  const char* const length = is_common ? put(start, prepared_[static_cast<std::size_t>(head.media_type)])
                                       : put_head_without_length(start, head, date_.text());
  length_offset_ = static_cast<std::size_t>(length - start);
  status_begun_ = head.status;
  return start + length_offset_ + length_digits_expected_ + kHeadEnd.size();
}

void ResponseWriter::end(WriteBuffer& out, const char* content_end) {
  char* const length = out.reserve(0) + length_offset_;
  const char* const content = length + length_digits_expected_ + kHeadEnd.size();
  const auto content_size = static_cast<std::size_t>(content_end - content);
  const fmt::format_int digits(content_size);
  if (digits.size() != length_digits_expected_) {
    std::memmove(length + digits.size() + kHeadEnd.size(), content, content_size);
    length_digits_expected_ = digits.size();
  }
  put(put(length, {digits.data(), digits.size()}), kHeadEnd);
  note(status_begun_, content_size);
  out.advance(length_offset_ + digits.size() + kHeadEnd.size() + content_size);
}

void ResponseWriter::write(WriteBuffer& out, const ResponseHead& head, std::string_view content) {
  char* const to = begin(out, head, content.size());
  end(out, put(to, content));
}

void ResponseWriter::write_head(WriteBuffer& out, const ResponseHead& head, std::size_t content_size) {
  char* const start = out.reserve(kHeadSizeMax + head.more_field_lines.size());
  char* const length = put_head_without_length(start, head, date_.text());
  const char* const end = fmt::format_to(length, "{}{}", content_size, kHeadEnd);
  out.advance(static_cast<std::size_t>(end - start));
  note(head.status, 0);
}

void ResponseWriter::write_without_content(WriteBuffer& out, const ResponseHead& head) {
  char* const start = out.reserve(kHeadSizeMax + head.more_field_lines.size());
  const char* const end = put(put_common_head(start, head, date_.text()), "\r\n");
  out.advance(static_cast<std::size_t>(end - start));
  note(head.status, 0);
}

void ResponseWriter::write_continue(WriteBuffer& out) { out.append("HTTP/1.1 100 Continue\r\n\r\n"); }

}  // namespace rest_echo::http
