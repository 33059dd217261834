#include "rest_echo/bytes/write_buffer.hpp"

#include <algorithm>
#include <new>

namespace rest_echo {

void WriteBuffer::grow(std::size_t size) {
  const std::size_t capacity = std::max(capacity_ * 2, size_ + size);
  std::unique_ptr<char[]> larger(new char[capacity]);
  std::memcpy(larger.get(), octets_.get(), size_);
  octets_ = std::move(larger);
  capacity_ = capacity;
}

void WriteBuffer::shrink() noexcept {
  assert(empty());
  std::unique_ptr<char[]> smaller(new (std::nothrow) char[base_]);
  if (smaller == nullptr) return;  // then the large one stays
  octets_ = std::move(smaller);
  capacity_ = base_;
}

}  // namespace rest_echo
