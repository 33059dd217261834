#pragma once

#include <cassert>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace rest_echo {

/// Octets to send, contiguous and in order. Grows as needed and keeps its memory; shrink() gives back what a
/// large answer made it grow to.
class WriteBuffer {
 public:
  explicit WriteBuffer(std::size_t capacity)
      : octets_(new char[capacity]), capacity_(capacity), base_(capacity) {}

  [[nodiscard]] std::string_view unsent() const noexcept { return {octets_.get(), size_}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  void clear() noexcept { size_ = 0; }

  /// Room for `size` more octets, at the end of what is there. Pointers from before may die.
  [[nodiscard]] char* reserve(std::size_t size) {
    if (capacity_ - size_ < size) grow(size);
    return octets_.get() + size_;
  }
  /// `size` octets of the room that reserve() gave have been written.
  void advance(std::size_t size) noexcept {
    assert(size <= capacity_ - size_);
    size_ += size;
  }
  void append(std::string_view octets) {
    octets.copy(reserve(octets.size()), octets.size());  // unlike memcpy, this takes an empty view
    advance(octets.size());
  }

  [[nodiscard]] bool is_grown() const noexcept { return capacity_ > base_; }
  /// Back to the capacity of the start. Only while empty.
  void shrink() noexcept;

 private:
  void grow(std::size_t size);

  std::unique_ptr<char[]> octets_;
  std::size_t capacity_;
  std::size_t base_;
  std::size_t size_ = 0;
};

}  // namespace rest_echo
