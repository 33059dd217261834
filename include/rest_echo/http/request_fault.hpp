#pragma once

#include <cstdint>

namespace rest_echo::http {

/// Why the octets received are no request, or none that may go on. After any of them the place where the next
/// request would begin is unknown or too far away: answer, then close.
enum class RequestFault : std::uint8_t {
  none,
  incomplete,
  repeated_empty_line,
  bare_line_end,
  bad_method,
  method_too_long,
  bad_request_target,
  request_target_too_long,
  bad_version,
  unsupported_version,
  bad_field_line,
  head_too_large,
  bad_content_length,
  repeated_content_length,
  content_length_and_transfer_encoding,
  bad_transfer_encoding,
  transfer_encoding_in_http_1_0,
  unknown_transfer_coding,
  content_too_large,
  bad_chunk,
  chunk_extensions_too_large,
  bad_trailer,
  trailer_section_too_large,
};

}  // namespace rest_echo::http
