#pragma once

#include <cstddef>
#include <string_view>

namespace rest_echo::json {

/// Most octets that one octet of a string becomes: `\u0000`.
inline constexpr std::size_t kEscapeSizeMax = 6;

/// Writes `text` without quotes as the content of a JSON string: `"` and `\`, and the octets below 0x20 are
/// escaped in their shortest form, all else is kept. Returns the end. Blocks are read and stored: 32 octets
/// behind `text` must be readable, and 32 octets behind what is written may be overwritten.
[[nodiscard]] char* write_escaped(std::string_view text, char* out) noexcept;

}  // namespace rest_echo::json
