#pragma once

#include <cassert>
#include <cstddef>
#include <cstring>
#include <span>

#include "rest_echo/bytes/block_pool.hpp"
#include "rest_echo/bytes/padding.hpp"

namespace rest_echo {

/// Octets received and not yet consumed, contiguous, always followed by kPaddingSize bytes of ours.
///
/// |  consumed  |  unread  |  free  |  padding  |      consumed_ <= filled_ <= capacity()
/// 0            ^consumed_ ^filled_ ^capacity()        the padding is never received into
class ReadBuffer {
 public:
  ReadBuffer() = default;
  explicit ReadBuffer(Block block) noexcept : block_(std::move(block)) { assert(block_.size > kPaddingSize); }

  [[nodiscard]] std::size_t capacity() const noexcept {
    return block_.size < kPaddingSize ? 0 : block_.size - kPaddingSize;
  }
  [[nodiscard]] std::span<char> unread() noexcept {
    return {block_.octets.get() + consumed_, filled_ - consumed_};
  }
  [[nodiscard]] std::size_t unread_size() const noexcept { return filled_ - consumed_; }
  [[nodiscard]] std::span<char> free_space() noexcept {
    return {block_.octets.get() + filled_, capacity() - filled_};
  }

  /// The first `size` octets of free_space() have been received into.
  void fill(std::size_t size) noexcept {
    assert(size <= capacity() - filled_);
    filled_ += size;
  }
  /// Forgets the first `size` unread octets.
  void consume(std::size_t size) noexcept {
    assert(size <= unread_size());
    consumed_ += size;
    if (consumed_ == filled_) consumed_ = filled_ = 0;
  }
  /// Forgets the unread octets from `size` on.
  void truncate(std::size_t size) noexcept {
    assert(size <= unread_size());
    filled_ = consumed_ + size;
  }
  /// Zeroes the kPaddingSize bytes behind the unread octets, so that block-wise readers meet no stale ones.
  void pad() noexcept { std::memset(block_.octets.get() + filled_, 0, kPaddingSize); }
  void clear() noexcept { consumed_ = filled_ = 0; }

  /// Makes room for at least `unread_size_wanted` unread octets in all, moving or growing. Views and spans
  /// into the buffer die.
  void reserve(std::size_t unread_size_wanted, BlockPool& pool);
  /// Copies `octets` in behind what is unread, growing where needed.
  void append(std::span<const char> octets, BlockPool& pool);
  /// Makes the capacity suit `unread_size_expected` unread octets: grows to it, and leaves a block that is
  /// far too large for what it holds.
  void fit(std::size_t unread_size_expected, BlockPool& pool);
  /// Gives the memory back and leaves an empty buffer without capacity.
  void release_to(BlockPool& pool) noexcept;

 private:
  void move_to(Block block, BlockPool& pool) noexcept;

  Block block_;
  std::size_t consumed_ = 0;
  std::size_t filled_ = 0;
};

}  // namespace rest_echo
