#pragma once

#include <cstdint>
#include <string_view>

#include "rest_echo/bytes/ascii.hpp"
#include "rest_echo/bytes/octet_set.hpp"

namespace rest_echo::http {

/// Octets allowed in a token (RFC 9110 §5.6.2), and so in methods and field names.
inline constexpr OctetSet kTokenOctet =
    OctetSet{}.with("!#$%&'*+-.^_`|~").with_range('0', '9').with_range('a', 'z').with_range('A', 'Z');
static_assert(kTokenOctet['-'] && kTokenOctet['Z'] && !kTokenOctet[':'] && !kTokenOctet[' '] &&
              !kTokenOctet['\x7f']);

/// The fields that decide how a request is framed and answered; every other one is read and dropped.
enum class FieldName : std::uint8_t {
  other,
  connection,
  content_encoding,
  content_length,
  expect,
  host,
  transfer_encoding,
};

/// Field names are compared without case (RFC 9110 §5.1).
[[nodiscard]] constexpr FieldName find_field_name(std::string_view name) noexcept {
  const auto is = [name](std::string_view lower) { return equals_ignoring_ascii_case(name, lower); };
  switch (name.size()) {
    case 4: return is("host") ? FieldName::host : FieldName::other;
    case 6: return is("expect") ? FieldName::expect : FieldName::other;
    case 10: return is("connection") ? FieldName::connection : FieldName::other;
    case 14: return is("content-length") ? FieldName::content_length : FieldName::other;
    case 16: return is("content-encoding") ? FieldName::content_encoding : FieldName::other;
    case 17: return is("transfer-encoding") ? FieldName::transfer_encoding : FieldName::other;
    default: return FieldName::other;
  }
}

/// OWS = *( SP / HTAB ) (RFC 9110 §5.6.3).
[[nodiscard]] constexpr bool is_ows(char octet) noexcept { return octet == ' ' || octet == '\t'; }

[[nodiscard]] constexpr std::string_view trim_ows(std::string_view text) noexcept {
  while (!text.empty() && is_ows(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_ows(text.back())) text.remove_suffix(1);
  return text;
}

/// Calls `take(member)` for each member of a comma-separated list, without the OWS around it and without
/// empty members (RFC 9110 §5.6.1.2). Quoted strings are not understood: no field of ours has them.
template <typename Take>
constexpr void for_each_list_member(std::string_view list, Take take) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view member = trim_ows(list.substr(0, comma));
    if (!member.empty()) take(member);
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace rest_echo::http
