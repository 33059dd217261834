#pragma once

#include <cstddef>

#include "rest_echo/json/body.hpp"

namespace rest_echo::json {

/// Room that `write_body` needs for a Body read from `text_size` octets. Its text has at most 4 * text_size +
/// 16
/// (`{},` becomes `{"code":{}},`); the rest is there because octets are stored in blocks.
[[nodiscard]] constexpr std::size_t body_text_size_max(std::size_t text_size) noexcept {
  return 4 * text_size + 16 + 64;
}

/// Writes `body` as compact JSON to `out`, where `body_text_size_max` octets must be free, and returns the
/// end of the text. Octets behind that end, within this room, may be overwritten.
[[nodiscard]] char* write_body(const Body& body, char* out) noexcept;

}  // namespace rest_echo::json
