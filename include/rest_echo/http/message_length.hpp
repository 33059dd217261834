#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rest_echo/http/request_fault.hpp"

namespace rest_echo::http {

/// How the end of a request's content is found (RFC 9112 §6.3).
enum class Framing : std::uint8_t { none, content_length, chunked };

/// Collects the framing fields of one head and decides. Stricter than the RFC where two readers could differ:
/// any second Content-Length and any Transfer-Encoding beside one is a fault.
class MessageLength {
 public:
  /// The value of one Content-Length line, without OWS around it. Returns a fault at once.
  [[nodiscard]] RequestFault accept_content_length(std::string_view value) noexcept;
  /// The value of one Transfer-Encoding line; judged by decide(), as later lines belong to the same list.
  void accept_transfer_encoding(std::string_view value) noexcept;
  /// At the end of the head.
  [[nodiscard]] RequestFault decide(bool is_http_1_0, std::size_t body_size_max) noexcept;

  [[nodiscard]] Framing framing() const noexcept { return framing_; }
  /// Octets of content; only with Framing::content_length.
  [[nodiscard]] std::size_t content_length() const noexcept { return content_length_; }

 private:
  enum class Codings : std::uint8_t { none, chunked, unknown, malformed };

  std::uint64_t content_length_ = 0;
  bool has_content_length_ = false;
  bool has_transfer_encoding_ = false;
  bool has_chunked_ = false;
  Codings codings_ = Codings::none;
  Framing framing_ = Framing::none;
};

}  // namespace rest_echo::http
