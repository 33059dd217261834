#include "rest_echo/bytes/control_scan.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>

#include "support/guarded_space.hpp"

namespace rest_echo {
namespace {

// As the RFC says it: CTL without HTAB.
bool is_control_but_tab_as_read(int value) {
  return (value >= 0x00 && value <= 0x1f && value != 0x09) || value == 0x7f;
}

TEST(ControlScan, KnowsEveryOctet) {
  for (int value = 0; value < 256; ++value) {
    EXPECT_EQ(is_control_but_tab(static_cast<char>(value)), is_control_but_tab_as_read(value)) << value;
  }
}

TEST(ControlScan, FindsEveryOctetAtEveryPlace) {
  test::GuardedSpace space;
  constexpr std::size_t kSizeMax = 50;
  for (std::size_t size = 0; size <= kSizeMax; ++size) {
    const std::span<char> octets = space.place(std::string(size, 'v'));
    const char* const end = octets.data() + size;
    ASSERT_EQ(find_control_but_tab(octets.data(), end), end) << "no control in " << size;
    for (std::size_t at = 0; at < size; ++at) {
      for (int value = 0; value < 256; ++value) {
        octets[at] = static_cast<char>(value);
        const char* const expected = is_control_but_tab_as_read(value) ? octets.data() + at : end;
        ASSERT_EQ(find_control_but_tab(octets.data(), end), expected)
            << "octet " << value << " at " << at << " of " << size;
      }
      octets[at] = 'v';
    }
  }
}

TEST(ControlScan, FindsTheFirstOfTwo) {
  test::GuardedSpace space;
  constexpr std::size_t kSize = 40;
  const std::span<char> octets = space.place(std::string(kSize, '\t'));
  const char* const end = octets.data() + kSize;
  for (std::size_t first = 0; first < kSize; ++first) {
    for (std::size_t second = first + 1; second < kSize; ++second) {
      for (const char neighbour : {' ', '\xff', '\x80', '\t'}) {
        std::ranges::fill(octets, neighbour);
        octets[first] = '\r';
        octets[second] = '\0';
        ASSERT_EQ(find_control_but_tab(octets.data(), end), octets.data() + first) << first << ' ' << second;
      }
    }
  }
}

TEST(ControlScan, StartsAnywhere) {
  test::GuardedSpace space;
  const std::span<char> octets = space.place("\r" + std::string(60, 'v') + "\n");
  const char* const end = octets.data() + octets.size();
  for (std::size_t start = 1; start < octets.size(); ++start) {
    ASSERT_EQ(find_control_but_tab(octets.data() + start, end), end - 1) << start;
  }
}

}  // namespace
}  // namespace rest_echo
