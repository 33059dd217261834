#include "support/allocation_count.hpp"

#include <cstdlib>
#include <new>
#include <utility>

namespace rest_echo::test {
namespace {

AllocationCount count;
std::size_t allocations_until_failure = kNeverFail;

bool is_to_fail() noexcept {
  return allocations_until_failure != kNeverFail && allocations_until_failure-- == 0;
}

void* take(std::size_t size) noexcept {
  if (is_to_fail()) return nullptr;
  ++count.taken;
  ++count.live;
  return std::malloc(size == 0 ? 1 : size);
}

void* take_aligned(std::size_t size, std::align_val_t alignment) noexcept {
  if (is_to_fail()) return nullptr;
  ++count.taken;
  ++count.live;
  const auto step = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(step, (size + step - 1) / step * step);
}

void* or_throw(void* octets) {
  if (octets == nullptr) throw std::bad_alloc();
  return octets;
}

void give_back(void* octets) noexcept {
  if (octets != nullptr) --count.live;
  std::free(octets);
}

}  // namespace

AllocationCount allocation_count() noexcept { return count; }

std::size_t fail_allocation_after(std::size_t allocation_count) noexcept {
  return std::exchange(allocations_until_failure, allocation_count);
}

}  // namespace rest_echo::test

using namespace rest_echo::test;

void* operator new(std::size_t size) { return or_throw(take(size)); }
void* operator new[](std::size_t size) { return or_throw(take(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return take(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return take(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return or_throw(take_aligned(size, alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return or_throw(take_aligned(size, alignment));
}
void operator delete(void* octets) noexcept { give_back(octets); }
void operator delete[](void* octets) noexcept { give_back(octets); }
void operator delete(void* octets, std::size_t) noexcept { give_back(octets); }
void operator delete[](void* octets, std::size_t) noexcept { give_back(octets); }
void operator delete(void* octets, const std::nothrow_t&) noexcept { give_back(octets); }
void operator delete[](void* octets, const std::nothrow_t&) noexcept { give_back(octets); }
void operator delete(void* octets, std::align_val_t) noexcept { give_back(octets); }
void operator delete[](void* octets, std::align_val_t) noexcept { give_back(octets); }
void operator delete(void* octets, std::size_t, std::align_val_t) noexcept { give_back(octets); }
void operator delete[](void* octets, std::size_t, std::align_val_t) noexcept { give_back(octets); }
