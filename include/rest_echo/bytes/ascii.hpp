#pragma once

#include <string_view>

namespace rest_echo {

/// `octet` with A-Z made a-z; every other octet is returned as it is.
[[nodiscard]] constexpr char to_ascii_lower(char octet) noexcept {
  return octet >= 'A' && octet <= 'Z' ? static_cast<char>(octet + ('a' - 'A')) : octet;
}

/// Compares with A-Z equal to a-z and no other folding. `lower` must have no capital letter.
[[nodiscard]] constexpr bool equals_ignoring_ascii_case(std::string_view text,
                                                        std::string_view lower) noexcept {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (to_ascii_lower(text[i]) != lower[i]) return false;
  }
  return true;
}

/// The value of a hexadecimal digit of either case, or -1.
[[nodiscard]] constexpr int hex_digit_value(char octet) noexcept {
  if (octet >= '0' && octet <= '9') return octet - '0';
  const char lower = to_ascii_lower(octet);
  if (lower >= 'a' && lower <= 'f') return lower - 'a' + 10;
  return -1;
}
static_assert(hex_digit_value('0') == 0 && hex_digit_value('F') == 15 && hex_digit_value('g') == -1);

}  // namespace rest_echo
