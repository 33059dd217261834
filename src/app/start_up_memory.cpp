#include "rest_echo/app/start_up_memory.hpp"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace rest_echo::app {
namespace {

// A debugger's breakpoints are changes to such pages, which would go with them: only without assertions.
#ifdef NDEBUG
constexpr bool kIsEnabled = true;
#else
constexpr bool kIsEnabled = false;
#endif

int release_segments(dl_phdr_info* object, std::size_t /*size*/, void* /*context*/) {
  const auto page_size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const std::uintptr_t begin = (object->dlpi_addr + segment.p_vaddr) & ~(page_size - 1);
    const std::uintptr_t end = object->dlpi_addr + segment.p_vaddr + segment.p_memsz;
    (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void release_start_up_memory() noexcept {
  if (kIsEnabled) ::dl_iterate_phdr(release_segments, nullptr);
}

}  // namespace rest_echo::app
