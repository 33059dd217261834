#pragma once

#include <bit>
#include <string_view>

#include "octet_block.hpp"

namespace rest_echo::json {

/// The first quote or backslash at or behind `content`. There must be one; kPaddingSize octets behind it must
/// be readable.
[[nodiscard]] inline const char* find_quote_or_backslash(const char* content) noexcept {
  for (;; content += OctetBlock::kSize) {
    const std::uint32_t found = OctetBlock(content).quotes_and_backslashes();
    if (found != 0) return content + std::countr_zero(found);
  }
}

/// Copies the content of a string up to its closing quote. Returns the end of the copy, or nullptr if an
/// escape comes first. Whole blocks are read and stored.
[[nodiscard]] inline char* copy_until_quote(const char* content, char* out) noexcept {
  for (;; content += OctetBlock::kSize, out += OctetBlock::kSize) {
    const OctetBlock block(content);
    block.store(out);
    const std::uint32_t found = block.quotes_and_backslashes();
    if (found == 0) continue;
    const int size = std::countr_zero(found);
    return content[size] == '"' ? out + size : nullptr;
  }
}

/// Copies `text` in whole blocks and returns the end of the copy.
[[nodiscard]] inline char* copy_blocks(std::string_view text, char* out) noexcept {
  OctetBlock(text.data()).store(out);
  for (std::size_t copied = OctetBlock::kSize; copied < text.size(); copied += OctetBlock::kSize) {
    OctetBlock(text.data() + copied).store(out + copied);
  }
  return out + text.size();
}

}  // namespace rest_echo::json
