#include "rest_echo/json/escape.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "octet_block.hpp"

namespace rest_echo::json {
namespace {

struct Escape {
  std::array<char, 7> text;
  unsigned char size;
};

constexpr Escape short_escape(char letter) { return {{'\\', letter}, 2}; }

constexpr Escape long_escape(unsigned octet) {
  return {{'\\', 'u', '0', '0', octet < 0x10 ? '0' : '1', "0123456789abcdef"[octet % 0x10]}, kEscapeSizeMax};
}

/// By octet; the backslash is the last one that has an escape.
constexpr std::array<Escape, '\\' + 1> kEscapes = [] {
  std::array<Escape, '\\' + 1> escapes{};
  for (unsigned octet = 0; octet < 0x20; ++octet) escapes[octet] = long_escape(octet);
  escapes['\b'] = short_escape('b');
  escapes['\t'] = short_escape('t');
  escapes['\n'] = short_escape('n');
  escapes['\f'] = short_escape('f');
  escapes['\r'] = short_escape('r');
  escapes['"'] = short_escape('"');
  escapes['\\'] = short_escape('\\');
  return escapes;
}();
static_assert(kEscapes[0].text[4] == '0' && kEscapes[0x1f].text[4] == '1' && kEscapes[0x1f].text[5] == 'f');
static_assert(kEscapes['\n'].size == 2 && kEscapes[0x0b].size == 6 && kEscapes['/'].size == 0);

char* write_escape(char octet, char* out) noexcept {
  const Escape& escape = kEscapes[static_cast<unsigned char>(octet)];
  std::memcpy(out, escape.text.data(), escape.text.size());
  return out + escape.size;
}

}  // namespace

char* write_escaped(std::string_view text, char* out) noexcept {
  std::size_t offset = 0;
  while (offset < text.size()) {
    const std::size_t left = text.size() - offset;
    const OctetBlock block(text.data() + offset);
    block.store(out);
    std::uint32_t found = block.octets_to_escape();
    if (left < OctetBlock::kSize) found &= (std::uint32_t{1} << left) - 1;
    if (found == 0) {
      const std::size_t run = left < OctetBlock::kSize ? left : OctetBlock::kSize;
      offset += run;
      out += run;
      continue;
    }
    const auto run = static_cast<std::size_t>(std::countr_zero(found));
    out = write_escape(text[offset + run], out + run);
    offset += run + 1;
  }
  return out;
}

}  // namespace rest_echo::json
