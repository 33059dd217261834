#pragma once

#include <cassert>
#include <cstdint>
#include <string_view>

namespace rest_echo::http {

/// The status codes that this server sends (RFC 9110 §15, RFC 6585).
enum class Status : std::uint16_t {
  ok = 200,
  no_content = 204,
  bad_request = 400,
  method_not_allowed = 405,
  request_timeout = 408,
  content_too_large = 413,
  uri_too_long = 414,
  unsupported_media_type = 415,
  expectation_failed = 417,
  request_header_fields_too_large = 431,
  internal_server_error = 500,
  not_implemented = 501,
  service_unavailable = 503,
  http_version_not_supported = 505,
};

[[nodiscard]] constexpr std::string_view reason_phrase(Status status) noexcept {
  switch (status) {  // no default: the compiler names a status we forgot
    case Status::ok: return "OK";
    case Status::no_content: return "No Content";
    case Status::bad_request: return "Bad Request";
    case Status::method_not_allowed: return "Method Not Allowed";
    case Status::request_timeout: return "Request Timeout";
    case Status::content_too_large: return "Content Too Large";
    case Status::uri_too_long: return "URI Too Long";
    case Status::unsupported_media_type: return "Unsupported Media Type";
    case Status::expectation_failed: return "Expectation Failed";
    case Status::request_header_fields_too_large: return "Request Header Fields Too Large";
    case Status::internal_server_error: return "Internal Server Error";
    case Status::not_implemented: return "Not Implemented";
    case Status::service_unavailable: return "Service Unavailable";
    case Status::http_version_not_supported: return "HTTP Version Not Supported";
  }
  assert(false);
  return "";
}

}  // namespace rest_echo::http
