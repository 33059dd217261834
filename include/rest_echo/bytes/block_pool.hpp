#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

namespace rest_echo {

/// A piece of memory with one owner. Freed with its owner unless it is handed back to a BlockPool.
struct Block {
  std::unique_ptr<char[]> octets;
  std::size_t size = 0;
};

/// Memory for what a connection must keep between two reads: powers of two from kBlockSizeMin up. Small
/// blocks that come back are kept for the next taker, within kKeptSizeMax in all; larger ones are freed at
/// once.
class BlockPool {
 public:
  static constexpr std::size_t kBlockSizeMin = 512;
  /// Half a request and what one recv brings behind it (64 KiB) find room in the largest.
  static constexpr std::size_t kKeptBlockSizeMax = 128 * 1024;
  static constexpr std::size_t kKeptSizeMax = 1024 * 1024;

  BlockPool() = default;
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  ~BlockPool();

  /// A block of at least `size_min` bytes, its content unspecified.
  [[nodiscard]] Block take(std::size_t size_min);
  /// Takes a block back; an empty one is welcome.
  void give_back(Block block) noexcept;

 private:
  // Blocks at rest form a list through their own first bytes, so keeping them needs no memory.
  static constexpr std::size_t kClassCount = 9;  // 512 << 8 is kKeptBlockSizeMax
  static_assert(kBlockSizeMin << (kClassCount - 1) == kKeptBlockSizeMax);

  std::array<char*, kClassCount> at_rest_{};
  std::size_t kept_size_ = 0;
};

}  // namespace rest_echo
