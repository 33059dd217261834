#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rest_echo/http/message_length.hpp"

namespace rest_echo::http {

/// Methods are case-sensitive (RFC 9110 §9.1); `other` is any token that is none of these.
enum class Method : std::uint8_t { other, get, head, post, put, patch, delete_, options, trace, connect };

/// A request's head as far as it decides an answer. Values only: it may outlive the octets it was read from.
struct Request {
  Method method = Method::other;
  /// HTTP/1.0; every later minor version is served as 1.1.
  bool is_http_1_0 = false;
  /// The request-target has no form that its method may use, or an octet that no URI has.
  bool has_bad_target = false;
  /// Host is missing (HTTP/1.1), there twice, or no uri-host [ ":" port ].
  bool has_bad_host = false;
  bool has_health_path = false;  ///< the path is /healthz
  bool has_close_option = false;
  bool has_keep_alive_option = false;
  bool expects_continue = false;
  bool has_unknown_expectation = false;
  /// Content-Encoding names anything but identity.
  bool has_content_coding = false;
  Framing framing = Framing::none;
  /// Chunked, or a Content-Length above 0.
  bool announces_content = false;

  /// Whether the connection may serve another request (RFC 9112 §9.3).
  [[nodiscard]] bool is_persistent() const noexcept {
    return !has_close_option && (!is_http_1_0 || has_keep_alive_option);
  }
};

}  // namespace rest_echo::http
