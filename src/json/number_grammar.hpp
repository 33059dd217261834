#pragma once

#include "rest_echo/bytes/octet_set.hpp"

namespace rest_echo::json {

/// What may follow a number inside an array or object.
inline constexpr OctetSet kAfterNumber = OctetSet{}.with(" \t\n\r,]}");

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

}  // namespace rest_echo::json
