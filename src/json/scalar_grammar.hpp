#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

#include "rest_echo/bytes/octet_set.hpp"

namespace rest_echo::json {

/// `text` without white space around it.
[[nodiscard]] inline std::string_view trim(std::string_view text) noexcept {
  constexpr std::string_view kWhiteSpace = " \t\n\r";
  text.remove_prefix(std::min(text.find_first_not_of(kWhiteSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kWhiteSpace) + 1);
}

/// What may follow a number or literal inside an array or object.
inline constexpr OctetSet kAfterScalar = OctetSet{}.with(" \t\n\r,]}");

/// Reads `digits`: one or more. Returns nullptr if there is none.
[[nodiscard]] inline const char* skip_digits(const char* text) noexcept {
  if (!kDigits[*text]) return nullptr;
  while (kDigits[*text]) ++text;
  return text;
}

/// The end of the number that starts at `text`, or nullptr if none does. Something that is no digit must
/// follow.
[[nodiscard]] inline const char* find_number_end(const char* text) noexcept {
  // number = [ "-" ] ( "0" / digit1-9 *digit ) [ "." 1*digit ] [ ( "e" / "E" ) [ "-" / "+" ] 1*digit ]
  if (*text == '-') ++text;
  text = *text == '0' ? text + 1 : skip_digits(text);
  if (text != nullptr && *text == '.') text = skip_digits(text + 1);
  if (text != nullptr && (*text == 'e' || *text == 'E')) {
    ++text;
    if (*text == '-' || *text == '+') ++text;
    text = skip_digits(text);
  }
  return text;
}

/// Reads a token inside an array or object that is an int64. Something that is no digit must follow. Without
/// a call for the unusual cases: one in the loop over the numbers costs its registers, and a quarter of all
/// time.
[[nodiscard]] inline bool read_int64(const char* token, std::int64_t& number) noexcept {
  constexpr std::ptrdiff_t kDigitCountMax = std::numeric_limits<std::int64_t>::digits10 + 1;
  if (kDigits[*token] && kAfterScalar[token[1]]) {  // two thirds of the usual components
    number = *token - '0';
    return true;
  }
  const bool is_negative = *token == '-';
  const char* first = token + static_cast<int>(is_negative);
  const char* end = first;
  std::uint64_t magnitude = 0;
  for (; kDigits[*end]; ++end) magnitude = magnitude * 10 + static_cast<std::uint64_t>(*end - '0');
  const std::ptrdiff_t digit_count = end - first;
  if (digit_count == 0 || digit_count > kDigitCountMax || !kAfterScalar[*end]) return false;
  if (*first == '0' && digit_count > 1) return false;
  const auto magnitude_max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (magnitude > magnitude_max + static_cast<std::uint64_t>(is_negative)) return false;
  number = static_cast<std::int64_t>(is_negative ? 0 - magnitude : magnitude);
  return true;
}

/// Whether a token inside an array or object is `literal`. kPaddingSize octets behind it are readable.
template <std::size_t N>
[[nodiscard]] bool is_literal(const char* token, const char (&literal)[N]) noexcept {
  return std::memcmp(token, literal, N - 1) == 0 && kAfterScalar[token[N - 1]];
}

}  // namespace rest_echo::json
