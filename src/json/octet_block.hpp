#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace rest_echo::json {

/// Sixteen octets of a text, compared and copied at once. In a mask, bit i stands for octet i.
class OctetBlock {
 public:
  static constexpr std::size_t kSize = 16;

#if defined(__SSE2__)
  explicit OctetBlock(const char* text) noexcept
      : octets_(_mm_loadu_si128(reinterpret_cast<const __m128i*>(text))) {}

  void store(char* out) const noexcept { _mm_storeu_si128(reinterpret_cast<__m128i*>(out), octets_); }

  [[nodiscard]] std::uint32_t quotes_and_backslashes() const noexcept {
    return mask(_mm_or_si128(equal_to('"'), equal_to('\\')));
  }
  [[nodiscard]] std::uint32_t octets_to_escape() const noexcept {
    const __m128i last_control = _mm_set1_epi8(0x1f);
    const __m128i controls = _mm_cmpeq_epi8(_mm_max_epu8(octets_, last_control), last_control);
    return mask(_mm_or_si128(controls, _mm_or_si128(equal_to('"'), equal_to('\\'))));
  }

 private:
  [[nodiscard]] __m128i equal_to(char octet) const noexcept {
    return _mm_cmpeq_epi8(octets_, _mm_set1_epi8(octet));
  }
  [[nodiscard]] static std::uint32_t mask(__m128i matches) noexcept {
    return static_cast<std::uint32_t>(_mm_movemask_epi8(matches));
  }

  __m128i octets_;
#else
  explicit OctetBlock(const char* text) noexcept { std::memcpy(octets_, text, kSize); }

  void store(char* out) const noexcept { std::memcpy(out, octets_, kSize); }

  [[nodiscard]] std::uint32_t quotes_and_backslashes() const noexcept {
    return mask([](unsigned char octet) { return octet == '"' || octet == '\\'; });
  }
  [[nodiscard]] std::uint32_t octets_to_escape() const noexcept {
    return mask([](unsigned char octet) { return octet < 0x20 || octet == '"' || octet == '\\'; });
  }

 private:
  template <typename Predicate>
  [[nodiscard]] std::uint32_t mask(Predicate matches) const noexcept {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < kSize; ++i) bits |= static_cast<std::uint32_t>(matches(octets_[i])) << i;
    return bits;
  }

  unsigned char octets_[kSize];
#endif
};

}  // namespace rest_echo::json
