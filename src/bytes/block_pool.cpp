#include "rest_echo/bytes/block_pool.hpp"

#include <bit>
#include <cstring>
#include <new>

namespace rest_echo {
namespace {

// 0 for the smallest class, one more for each doubling.
std::size_t class_of(std::size_t size) {
  return static_cast<std::size_t>(std::bit_width(size / BlockPool::kBlockSizeMin)) - 1;
}

}  // namespace

BlockPool::~BlockPool() {
  for (char* head : at_rest_) {
    while (head != nullptr) {
      char* next = nullptr;
      std::memcpy(&next, head, sizeof next);
      delete[] head;
      head = next;
    }
  }
}

Block BlockPool::take(std::size_t size_min) {
  const std::size_t size = std::bit_ceil(size_min < kBlockSizeMin ? kBlockSizeMin : size_min);
  if (size <= kKeptBlockSizeMax) {
    char*& head = at_rest_[class_of(size)];
    if (head != nullptr) {
      char* octets = head;
      std::memcpy(&head, octets, sizeof head);
      kept_size_ -= size;
      return {std::unique_ptr<char[]>(octets), size};
    }
    return {std::unique_ptr<char[]>(new char[size]), size};
  }
  return {std::unique_ptr<char[]>(new char[size_min]), size_min};
}

void BlockPool::give_back(Block block) noexcept {
  if (block.octets == nullptr || block.size > kKeptBlockSizeMax || kept_size_ + block.size > kKeptSizeMax)
    return;
  char*& head = at_rest_[class_of(block.size)];
  char* octets = block.octets.release();
  std::memcpy(octets, &head, sizeof head);
  head = octets;
  kept_size_ += block.size;
}

}  // namespace rest_echo
