#pragma once

#include <string_view>

#include "rest_echo/bytes/octet_set.hpp"

namespace rest_echo::http {

/// pchar = unreserved / pct-encoded / sub-delims / ":" / "@", and "/" (RFC 3986 §3.3); the query has "?" too.
inline constexpr OctetSet kPathOctet = kLetters.with_range('0', '9').with("-._~!$&'()*+,;=:@%/");
inline constexpr OctetSet kQueryOctet = kPathOctet.with("?");
static_assert(!kPathOctet['#'] && !kPathOctet['['] && !kPathOctet['?'] && !kPathOctet['\\'] &&
              !kPathOctet['\x80']);

/// Whether `text` is uri-host [ ":" port ] (RFC 9110 §7.2): a registered name or an IPv4 address, not empty,
/// or an IPv6 address in brackets. No user information.
[[nodiscard]] bool is_authority(std::string_view text) noexcept;

/// Whether every "%" of `text` is followed by two hexadecimal digits.
[[nodiscard]] bool has_sound_percent_encoding(std::string_view text) noexcept;

/// A request-target in one of the forms that do not begin with "/" (RFC 9112 §3.2.2 to §3.2.4); origin-form
/// is checked by the request parser while it looks for its end.
struct RequestTarget {
  enum class Form : unsigned char { invalid, absolute, authority, asterisk };
  Form form = Form::invalid;
  /// View into the text given: the absolute form's path without its query, empty for `http://host`.
  std::string_view path;
};

/// Reads a whole, non-empty target. The absolute form is accepted with the http scheme only.
[[nodiscard]] RequestTarget read_request_target(std::string_view target) noexcept;

}  // namespace rest_echo::http
