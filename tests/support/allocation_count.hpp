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

/// From now on `count` allocations succeed, then one fails, then all succeed again. Returns what was left of
/// the count that was set before: kNeverFail if that one has failed or none was to.
inline constexpr std::size_t kNeverFail = static_cast<std::size_t>(-1);
std::size_t fail_allocation_after(std::size_t count) noexcept;

}  // namespace rest_echo::test
