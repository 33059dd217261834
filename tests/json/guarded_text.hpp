#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "rest_echo/json/padding.hpp"

namespace rest_echo::json {

/// Octets that end at an unmapped page: one octet too far crashes. A text is followed by just its padding, a
/// room for output is as large as promised.
class GuardedSpace {
 public:
  GuardedSpace() = default;
  GuardedSpace(const GuardedSpace&) = delete;
  GuardedSpace& operator=(const GuardedSpace&) = delete;
  ~GuardedSpace() { unmap(); }

  /// `text` followed by padding that holds copies of `fill`.
  std::string_view place(std::string_view text, char fill = '\0') {
    char* start = room(text.size() + kPaddingSize);
    if (!text.empty()) std::memcpy(start, text.data(), text.size());
    std::memset(start + text.size(), fill, kPaddingSize);
    return {start, text.size()};
  }

  /// The last `size` octets before the unmapped page.
  char* room(std::size_t size) {
    if (size > size_) map(size);
    return mapping_ + size_ - size;
  }

 private:
  void map(std::size_t size) {
    unmap();
    const auto page_size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    size_ = (size + page_size - 1) / page_size * page_size;
    mapped_size_ = size_ + page_size;
    void* mapping = mmap(nullptr, mapped_size_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) std::abort();
    mapping_ = static_cast<char*>(mapping);
    if (mprotect(mapping_ + size_, page_size, PROT_NONE) != 0) std::abort();
  }
  void unmap() {
    if (mapping_ != nullptr) munmap(mapping_, mapped_size_);
  }

  char* mapping_ = nullptr;
  std::size_t mapped_size_ = 0;
  std::size_t size_ = 0;  // usable octets, a multiple of the page size
};

}  // namespace rest_echo::json
