#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

namespace rest_echo::test {

/// Octets that end at an unmapped page: whoever looks at one too many crashes.
class GuardedSpace {
 public:
  GuardedSpace() = default;
  GuardedSpace(const GuardedSpace&) = delete;
  GuardedSpace& operator=(const GuardedSpace&) = delete;
  ~GuardedSpace() { unmap(); }

  /// A copy of `text` right before the unmapped page; lives until the next call.
  std::span<char> place(std::string_view text) {
    if (text.size() > size_) map(text.size());
    char* const start = mapping_ + size_ - text.size();
    if (!text.empty()) std::memcpy(start, text.data(), text.size());
    return {start, text.size()};
  }

 private:
  void map(std::size_t size) {
    unmap();
    const auto page_size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    size_ = (size + page_size - 1) / page_size * page_size;
    mapped_size_ = size_ + page_size;
    void* const mapping =
        ::mmap(nullptr, mapped_size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) std::abort();
    mapping_ = static_cast<char*>(mapping);
    if (::mprotect(mapping_ + size_, page_size, PROT_NONE) != 0) std::abort();
  }
  void unmap() {
    if (mapping_ != nullptr) ::munmap(mapping_, mapped_size_);
  }

  char* mapping_ = nullptr;
  std::size_t mapped_size_ = 0;
  std::size_t size_ = 0;  // usable octets, a multiple of the page size
};

}  // namespace rest_echo::test
