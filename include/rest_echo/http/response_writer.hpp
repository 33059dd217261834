#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

#include "rest_echo/bytes/write_buffer.hpp"
#include "rest_echo/http/date.hpp"
#include "rest_echo/http/status.hpp"

namespace rest_echo::http {

enum class MediaType : std::uint8_t { json, text, problem };

/// What a response says of the connection (RFC 9112 §9.3): nothing, `close`, or to HTTP/1.0 `keep-alive`.
enum class Persistence : std::uint8_t { stays, closes, stays_http_1_0 };

struct ResponseHead {
  Status status = Status::ok;
  MediaType media_type = MediaType::json;
  Persistence persistence = Persistence::stays;
  /// Further field lines, each with its CR LF.
  std::string_view more_field_lines = {};
};

/// Writes responses (RFC 9112 §4) behind one another into a WriteBuffer.
class ResponseWriter {
 public:
  /// What the last response was.
  struct Written {
    Status status = Status::ok;
    std::size_t content_size = 0;
  };

  ResponseWriter();

  /// The time that Date tells from now on. Cheap while the second is the same.
  void set_time(std::time_t seconds_since_epoch);

  /// A whole response.
  void write(WriteBuffer& out, const ResponseHead& head, std::string_view content);
  /// The head alone, as write() would make it for `content_size` octets: the answer to HEAD.
  void write_head(WriteBuffer& out, const ResponseHead& head, std::size_t content_size);
  /// A response without content and without Content-Length: 204.
  void write_without_content(WriteBuffer& out, const ResponseHead& head);
  /// `100 Continue` (RFC 9110 §15.2.1).
  static void write_continue(WriteBuffer& out);

  /// Content whose size is not known yet is written in place: begin() gives room for `content_size_max`
  /// octets, end() takes where they ended and completes the head in front of them. Nothing may be written to
  /// `out` between the two; without end() nothing has been written.
  [[nodiscard]] char* begin(WriteBuffer& out, const ResponseHead& head, std::size_t content_size_max);
  void end(WriteBuffer& out, const char* content_end);

  [[nodiscard]] const Written& last() const noexcept { return last_; }
  /// Responses written so far, by the first digit of their status; 100 Continue does not count.
  [[nodiscard]] const std::array<std::uint64_t, 6>& counts() const noexcept { return counts_; }

 private:
  void note(Status status, std::size_t content_size) noexcept {
    last_ = {status, content_size};
    ++counts_[static_cast<std::size_t>(status) / 100];
  }

  Date date_;
  Written last_;
  std::array<std::uint64_t, 6> counts_{};
  Status status_begun_ = Status::ok;
  /// For the common 200: status line to `Content-Length: `, by media type, prepared once a second.
  std::array<std::string, 3> prepared_;
  /// The digits of the last Content-Length: begin() leaves room for as many.
  std::size_t length_digits_expected_ = 4;
  std::size_t length_offset_ = 0;  // of Content-Length's value, from the end of `out` at begin()
};

}  // namespace rest_echo::http
