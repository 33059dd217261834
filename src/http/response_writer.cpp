#include "rest_echo/http/response_writer.hpp"

#include <fmt/format.h>

#include <cstring>

namespace rest_echo::http {
namespace {

constexpr std::string_view kContentLengthName = "Content-Length: ";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::size_t kLengthDigitsMax = 20;

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

char* put(char* to, std::string_view text) {
  return to + text.copy(to, text.size());
}

// Status line, Date and whatever else does not depend on the content.
std::string format_common_head(const ResponseHead& head, std::string_view date) {
  return fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n{}{}", static_cast<int>(head.status),
                     reason_phrase(head.status), date, connection_field_line(head.persistence),
                     head.more_field_lines);
}

std::string format_head_without_length(const ResponseHead& head, std::string_view date) {
  return fmt::format("{}Content-Type: {}\r\n{}", format_common_head(head, date),
                     media_type_text(head.media_type), kContentLengthName);
}

}  // namespace

ResponseWriter::ResponseWriter() { set_time(0); }

void ResponseWriter::set_time(std::time_t seconds_since_epoch) {
  if (!date_.set(seconds_since_epoch)) return;
  for (MediaType type : {MediaType::json, MediaType::text, MediaType::problem}) {
    prepared_[static_cast<std::size_t>(type)] =
        format_head_without_length({.media_type = type}, date_.text());
  }
}

char* ResponseWriter::begin(WriteBuffer& out, const ResponseHead& head, std::size_t content_size_max) {
  const bool is_common =
      head.status == Status::ok && head.persistence == Persistence::stays && head.more_field_lines.empty();
  std::string formatted;
  if (!is_common) formatted = format_head_without_length(head, date_.text());
  const std::string& text = is_common ? prepared_[static_cast<std::size_t>(head.media_type)] : formatted;
  char* to = out.reserve(text.size() + kLengthDigitsMax + kHeadEnd.size() + content_size_max);
  to = put(to, text);
  length_offset_ = text.size();
  status_begun_ = head.status;
  return to + length_digits_expected_ + kHeadEnd.size();
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
  out.append(fmt::format("{}{}{}", format_head_without_length(head, date_.text()), content_size, kHeadEnd));
  note(head.status, 0);
}

void ResponseWriter::write_without_content(WriteBuffer& out, const ResponseHead& head) {
  out.append(format_common_head(head, date_.text()));
  out.append("\r\n");
  note(head.status, 0);
}

void ResponseWriter::write_continue(WriteBuffer& out) { out.append("HTTP/1.1 100 Continue\r\n\r\n"); }

}  // namespace rest_echo::http
