#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "rest_echo/http/chunked_decoder.hpp"
#include "rest_echo/http/field.hpp"
#include "rest_echo/http/limits.hpp"
#include "rest_echo/http/message_length.hpp"
#include "rest_echo/http/request.hpp"
#include "rest_echo/http/request_fault.hpp"

namespace rest_echo::http {

/// Reads one request from octets that arrive in pieces of any size (RFC 9112). First parse_head() until it is
/// complete, then parse_body() until it is; each is given all octets of the message so far, and looks only at
/// those that are new. Keeps offsets, no pointers: the octets may move between two calls. Copyable, so that a
/// half-read request can be set aside.
class RequestParser {
 public:
  enum class Outcome : std::uint8_t { need_more, complete, failed };

  /// `limits` must outlive the parser.
  explicit RequestParser(const Limits& limits) noexcept : limits_(&limits) {}

  /// `unread` begins where the previous message ended.
  [[nodiscard]] Outcome parse_head(std::string_view unread) noexcept;
  /// The same octets, writable: chunked content is decoded in place, behind the head. Afterwards only the
  /// first retained_size() of them matter while more is needed.
  [[nodiscard]] Outcome parse_body(std::span<char> unread) noexcept;

  /// Whether an octet of a request has been seen; an empty line before one does not count.
  [[nodiscard]] bool has_begun() const noexcept { return state_ > State::leading_lf; }
  [[nodiscard]] bool is_head_complete() const noexcept { return state_ == State::head_complete; }
  [[nodiscard]] bool has_failed() const noexcept { return state_ == State::failed; }
  [[nodiscard]] RequestFault fault() const noexcept { return fault_; }

  /// Its method is known as soon as the head's first token is; all else when the head is complete.
  [[nodiscard]] const Request& request() const noexcept { return request_; }
  /// The request line without its end; empty until it is complete.
  [[nodiscard]] std::string_view request_line(std::string_view unread) const noexcept {
    return unread.substr(request_line_offset_, request_line_size_);
  }
  /// Whether any content has been received behind the head.
  [[nodiscard]] bool has_body_begun(std::size_t unread_size) const noexcept {
    return unread_size > head_size_;
  }
  /// Octets that the whole message will take at least, as far as is known: a length counts only once the
  /// whole head has been found good.
  [[nodiscard]] std::size_t message_size_expected() const noexcept {
    return is_head_complete() ? head_size_ + length_.content_length() : 0;
  }

  /// When the body is complete: its content, decoded.
  [[nodiscard]] std::string_view content(std::string_view unread) const noexcept {
    return unread.substr(head_size_, content_size_);
  }
  /// When the body is complete: octets of `unread` that were this message.
  [[nodiscard]] std::size_t message_size() const noexcept { return message_size_; }
  /// While the body is incomplete: the octets of `unread` that must be kept.
  [[nodiscard]] std::size_t retained_size(std::size_t unread_size) const noexcept {
    return request_.framing == Framing::chunked ? head_size_ + content_size_ : unread_size;
  }

 private:
  enum class State : std::uint8_t {
    start,
    leading_lf,
    method,
    target,
    version,
    request_line_lf,
    field_name,
    field_value,
    field_line_lf,
    section_lf,
    head_complete,
    failed,
  };
  enum class Step : std::uint8_t { moved, starved };

  Step take_leading_line(std::string_view readable) noexcept;
  Step take_method(std::string_view readable) noexcept;
  Step take_target(std::string_view readable) noexcept;
  Step take_version(std::string_view readable) noexcept;
  Step take_field_name(std::string_view readable) noexcept;
  Step take_field_value(std::string_view readable) noexcept;
  Step take_field(std::string_view value) noexcept;
  Step take_line_end(std::string_view readable) noexcept;
  Step end_head() noexcept;
  void take_host(std::string_view value) noexcept;
  void judge_target(std::string_view target) noexcept;
  RequestFault oversize_fault() const noexcept;
  Step fail(RequestFault fault) noexcept;

  const Limits* limits_;
  State state_ = State::start;
  RequestFault fault_ = RequestFault::none;
  FieldName field_name_ = FieldName::other;
  bool has_leading_line_ = false;
  bool has_odd_target_octet_ = false;
  bool has_foreign_major_ = false;
  bool has_host_ = false;
  Request request_;
  MessageLength length_;
  std::uint32_t field_count_ = 0;
  std::size_t scanned_ = 0;      // octets of the head already looked at
  std::size_t part_offset_ = 0;  // where the method, target, version, field name or value began
  std::size_t request_line_offset_ = 0;
  std::size_t request_line_size_ = 0;
  std::size_t head_size_ = 0;
  std::size_t content_size_ = 0;
  std::size_t message_size_ = 0;
  ChunkedDecoder chunked_decoder_;
};

}  // namespace rest_echo::http
