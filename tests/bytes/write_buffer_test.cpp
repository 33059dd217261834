#include "rest_echo/bytes/write_buffer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace rest_echo {
namespace {

TEST(WriteBuffer, KeepsOctetsInOrderWhileItGrows) {
  WriteBuffer buffer(16);
  std::string expected;
  for (int i = 0; i < 200; ++i) {
    const std::string octets(static_cast<std::size_t>(i % 37), static_cast<char>('a' + i % 26));
    buffer.append(octets);
    expected += octets;
    ASSERT_EQ(buffer.unsent(), expected);
    ASSERT_EQ(buffer.size(), expected.size());
  }
  EXPECT_TRUE(buffer.is_grown());
}

TEST(WriteBuffer, AppendsNothing) {
  WriteBuffer buffer(16);
  buffer.append({});
  EXPECT_TRUE(buffer.empty());
}

TEST(WriteBuffer, ReservedRoomCountsOnlyOnceWritten) {
  WriteBuffer buffer(4);
  buffer.append("ab");
  char* const room = buffer.reserve(1000);
  std::memset(room, 'x', 1000);
  EXPECT_EQ(buffer.unsent(), "ab");
  buffer.advance(3);
  EXPECT_EQ(buffer.unsent(), "abxxx");
}

TEST(WriteBuffer, GrowsOnlyWhereItMust) {
  WriteBuffer buffer(8);
  buffer.append("12345678");
  EXPECT_FALSE(buffer.is_grown());
  buffer.clear();
  const char* const octets = buffer.reserve(8);
  EXPECT_FALSE(buffer.is_grown());
  EXPECT_EQ(buffer.reserve(8), octets);
  EXPECT_NE(buffer.reserve(9), nullptr);
  EXPECT_TRUE(buffer.is_grown());
}

TEST(WriteBuffer, ShrinksToWhereItBegan) {
  WriteBuffer buffer(8);
  buffer.append(std::string(10'000, 'x'));
  buffer.clear();
  EXPECT_TRUE(buffer.is_grown()) << "clear() keeps the memory";
  buffer.shrink();
  EXPECT_FALSE(buffer.is_grown());
  buffer.append("12345678");
  EXPECT_EQ(buffer.unsent(), "12345678");
}

}  // namespace
}  // namespace rest_echo
