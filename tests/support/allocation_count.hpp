#pragma once

#include <cstddef>

namespace rest_echo::test {

/// What operator new and operator delete have done in this program, which must have allocation_count.cpp
/// among its sources. One thread only.
struct AllocationCount {
  std::size_t taken = 0;  ///< blocks taken since the start
  std::size_t live = 0;   ///< blocks taken and not yet freed
};
[[nodiscard]] AllocationCount allocation_count() noexcept;

}  // namespace rest_echo::test
