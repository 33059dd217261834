#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rest_echo::test {

/// Where a text is cut before it is handed over: the offset at which each piece ends, in order, the last at
/// the text's end.
using Cutting = std::vector<std::size_t>;

inline std::string describe(const Cutting& cutting) {
  std::string text = "whole";
  if (cutting.size() == 2) text = "cut in two";
  if (cutting.size() > 2) text = "in " + std::to_string(cutting.size()) + " pieces";
  if (cutting.size() > 1) text.append(", the first of ").append(std::to_string(cutting.front()));
  return text;
}

inline Cutting pieces_of(std::size_t piece_size, std::size_t size) {
  Cutting cutting;
  for (std::size_t end = piece_size; end < size; end += piece_size) cutting.push_back(end);
  cutting.push_back(size);
  return cutting;
}

/// Texts up to this size are cut at every octet; larger ones at every octet near their ends and their middle,
/// and here and there in between.
inline constexpr std::size_t kEveryCutSizeMax = 1024;

/// Calls `check(cutting)` for a text of `size` octets whole, cut in two at every octet, and octet by octet.
template <typename Check>
void for_each_cutting(std::size_t size, Check check) {
  check(Cutting{size});
  const std::size_t stride = 1 + size / 61;
  for (std::size_t end = 1; end < size; ++end) {
    const bool is_near = end < 96 || size - end < 96 || (end > size / 2 && end - size / 2 < 32);
    if (size <= kEveryCutSizeMax || is_near || end % stride == 0) check(Cutting{end, size});
  }
  if (size <= kEveryCutSizeMax) {
    if (size > 1) check(pieces_of(1, size));
  } else {
    check(pieces_of(size / 97, size));
  }
}

/// A generator whose numbers are the same everywhere and for ever (xorshift64*).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2 + 1) {}
  /// A number below `count`.
  std::size_t below(std::size_t count) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::size_t>((state_ * 0x2545F4914F6CDD1DU) >> 33) % count;
  }

 private:
  std::uint64_t state_;
};

/// Up to `piece_count_max` pieces of random sizes, small ones as likely as large ones.
inline Cutting random_cutting(std::size_t size, std::size_t piece_count_max, Random& random) {
  Cutting cutting;
  std::size_t end = 0;
  while (cutting.size() + 1 < piece_count_max && end < size) {
    end += 1 + random.below(std::size_t{1} << random.below(12));
    if (end < size) cutting.push_back(end);
  }
  cutting.push_back(size);
  return cutting;
}

}  // namespace rest_echo::test
