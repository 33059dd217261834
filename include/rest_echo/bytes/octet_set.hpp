#pragma once

#include <array>
#include <string_view>

namespace rest_echo {

/// A set of octets, made at compile time and asked by index: `kToken['a']`.
class OctetSet {
 public:
  constexpr OctetSet() = default;

  [[nodiscard]] constexpr bool operator[](char octet) const noexcept {
    return has_[static_cast<unsigned char>(octet)];
  }
  [[nodiscard]] constexpr OctetSet with(std::string_view octets) const noexcept {
    OctetSet set = *this;
    for (char octet : octets) set.has_[static_cast<unsigned char>(octet)] = true;
    return set;
  }
  /// With every octet from `first` to `last`, both included.
  [[nodiscard]] constexpr OctetSet with_range(unsigned first, unsigned last) const noexcept {
    OctetSet set = *this;
    for (unsigned octet = first; octet <= last; ++octet) set.has_[octet] = true;
    return set;
  }
  [[nodiscard]] constexpr OctetSet without(std::string_view octets) const noexcept {
    OctetSet set = *this;
    for (char octet : octets) set.has_[static_cast<unsigned char>(octet)] = false;
    return set;
  }

 private:
  std::array<bool, 256> has_{};
};

inline constexpr OctetSet kDigits = OctetSet{}.with_range('0', '9');
inline constexpr OctetSet kHexDigits = kDigits.with_range('a', 'f').with_range('A', 'F');
inline constexpr OctetSet kLetters = OctetSet{}.with_range('a', 'z').with_range('A', 'Z');
static_assert(kDigits['0'] && kDigits['9'] && !kDigits['/'] && !kDigits[':']);
static_assert(kHexDigits['f'] && !kHexDigits['g'] && !kHexDigits['@'] && !kHexDigits['G']);
static_assert(kLetters['Z'] && !kLetters['['] && !kLetters['`'] && !kLetters['{']);

}  // namespace rest_echo
