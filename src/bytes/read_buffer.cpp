#include "rest_echo/bytes/read_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace rest_echo {

void ReadBuffer::reserve(std::size_t unread_size_wanted, BlockPool& pool) {
  if (unread_size_wanted <= capacity() - consumed_) return;
  if (unread_size_wanted > capacity()) {
    move_to(pool.take(unread_size_wanted + kPaddingSize), pool);
    return;
  }
  const std::size_t size = unread_size();
  std::memmove(block_.octets.get(), block_.octets.get() + consumed_, size);
  consumed_ = 0;
  filled_ = size;
}

void ReadBuffer::append(std::span<const char> octets, BlockPool& pool) {
  const std::size_t size = unread_size() + octets.size();
  // Doubling, so that a body of unknown size is copied a bounded number of times.
  if (size > capacity()) reserve(std::max(size, 2 * capacity()), pool);
  reserve(size, pool);
  std::memcpy(block_.octets.get() + filled_, octets.data(), octets.size());
  filled_ += octets.size();
}

void ReadBuffer::fit(std::size_t unread_size_expected, BlockPool& pool) {
  const std::size_t size_wanted = std::max(unread_size_expected, unread_size()) + kPaddingSize;
  constexpr std::size_t kTooLargeFactor = 8;
  if (block_.size / kTooLargeFactor > std::max(size_wanted, BlockPool::kBlockSizeMin)) {
    move_to(pool.take(size_wanted), pool);
  } else {
    reserve(unread_size_expected, pool);
  }
}

void ReadBuffer::release_to(BlockPool& pool) noexcept {
  pool.give_back(std::exchange(block_, Block{}));
  clear();
}

void ReadBuffer::move_to(Block block, BlockPool& pool) noexcept {
  const std::size_t size = unread_size();
  if (size > 0) std::memcpy(block.octets.get(), block_.octets.get() + consumed_, size);
  pool.give_back(std::exchange(block_, std::move(block)));
  consumed_ = 0;
  filled_ = size;
}

}  // namespace rest_echo
