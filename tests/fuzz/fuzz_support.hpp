#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <vector>

#include "support/cutting.hpp"

namespace rest_echo::test {

inline void require(bool condition, std::string_view what) {
  if (condition) return;
  std::cerr << "not so: " << what << '\n';
  std::abort();
}

/// FNV-1a.
inline std::uint64_t hash_of(std::string_view input) {
  std::uint64_t hash = 14'695'981'039'346'656'037U;
  for (const char octet : input) hash = (hash ^ static_cast<unsigned char>(octet)) * 1'099'511'628'211U;
  return hash;
}

/// A few ways to cut `input`, which follow from its octets alone, so that an input found is an input kept.
inline std::vector<Cutting> cuttings_of(std::string_view input) {
  if (input.empty()) return {};
  Random random(hash_of(input));
  std::vector<Cutting> cuttings;
  for (const std::size_t piece_count_max : {2U, 5U, 50U}) {
    cuttings.push_back(random_cutting(input.size(), piece_count_max, random));
  }
  cuttings.push_back(pieces_of(1 + (input.size() > 2000 ? input.size() / 500 : 0), input.size()));
  return cuttings;
}

}  // namespace rest_echo::test
