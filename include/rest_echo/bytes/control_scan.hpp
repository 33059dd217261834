#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>

#include <bit>
#endif

namespace rest_echo {

/// Whether `octet` is a control (0x00-0x1f, DEL) other than horizontal tab: what no field value may hold.
[[nodiscard]] constexpr bool is_control_but_tab(char octet) noexcept {
  const auto value = static_cast<unsigned char>(octet);
  return (value < 0x20 && value != '\t') || value == 0x7f;
}

/// The first control other than tab in [first, last), or `last`. Reads nothing outside that range.
[[nodiscard]] inline const char* find_control_but_tab(const char* first, const char* last) noexcept {
#if defined(__SSE2__)
  const __m128i highest_control = _mm_set1_epi8(0x1f);
  const __m128i tab = _mm_set1_epi8('\t');
  const __m128i del = _mm_set1_epi8(0x7f);
  for (; last - first >= 16; first += 16) {
    const __m128i octets = _mm_loadu_si128(reinterpret_cast<const __m128i*>(first));
    const __m128i is_low = _mm_cmpeq_epi8(_mm_min_epu8(octets, highest_control), octets);
    const __m128i is_hit =
        _mm_or_si128(_mm_andnot_si128(_mm_cmpeq_epi8(octets, tab), is_low), _mm_cmpeq_epi8(octets, del));
    const auto hits = static_cast<unsigned>(_mm_movemask_epi8(is_hit));
    if (hits != 0) return first + std::countr_zero(hits);
  }
#else
  // Eight octets a step; a step with any candidate is left to the loop below.
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHighs = 0x8080808080808080U;
  for (; last - first >= 8; first += 8) {
    std::uint64_t octets = 0;
    std::memcpy(&octets, first, sizeof octets);
    const std::uint64_t below_space = (octets - kOnes * 0x20) & ~octets & kHighs;
    const std::uint64_t as_del = octets ^ (kOnes * 0x7f);
    const std::uint64_t is_del = (as_del - kOnes) & ~as_del & kHighs;
    if ((below_space | is_del) != 0) {
      for (int i = 0; i < 8; ++i) {
        if (is_control_but_tab(first[i])) return first + i;
      }
    }
  }
#endif
  while (first != last && !is_control_but_tab(*first)) ++first;
  return first;
}

}  // namespace rest_echo
