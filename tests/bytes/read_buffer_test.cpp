#include "rest_echo/bytes/read_buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "support/allocation_count.hpp"
#include "support/cutting.hpp"

namespace rest_echo {
namespace {

std::string text_of(ReadBuffer& buffer) { return {buffer.unread().begin(), buffer.unread().end()}; }

void receive(ReadBuffer& buffer, std::string_view octets) {
  ASSERT_LE(octets.size(), buffer.free_space().size());
  std::ranges::copy(octets, buffer.free_space().begin());
  buffer.fill(octets.size());
}

ReadBuffer make_buffer(std::size_t capacity) {
  const std::size_t size = capacity + kPaddingSize;
  return ReadBuffer(Block{std::make_unique<char[]>(size), size});
}

TEST(ReadBuffer, HasNoCapacityAtFirst) {
  ReadBuffer buffer;
  EXPECT_EQ(buffer.capacity(), 0U);
  EXPECT_EQ(buffer.unread_size(), 0U);
  EXPECT_TRUE(buffer.free_space().empty());
}

TEST(ReadBuffer, GivesBackWhatItReceivedInOrder) {
  ReadBuffer buffer = make_buffer(10);
  EXPECT_EQ(buffer.capacity(), 10U);
  receive(buffer, "abcdef");
  buffer.consume(2);
  receive(buffer, "gh");
  EXPECT_EQ(text_of(buffer), "cdefgh");
  EXPECT_EQ(buffer.free_space().size(), 2U);
  buffer.truncate(3);
  EXPECT_EQ(text_of(buffer), "cde");
  EXPECT_EQ(buffer.free_space().size(), 5U);
  buffer.consume(3);
  EXPECT_EQ(buffer.free_space().size(), 10U) << "consumed whole: begins anew";
}

TEST(ReadBuffer, PadsBehindTheUnreadOctetsEvenWhenFull) {
  ReadBuffer buffer = make_buffer(10);
  receive(buffer, "0123456789");
  buffer.pad();
  const char* const padding = buffer.unread().data() + buffer.unread_size();
  EXPECT_TRUE(std::all_of(padding, padding + kPaddingSize, [](char octet) { return octet == '\0'; }));
  EXPECT_EQ(text_of(buffer), "0123456789");
}

TEST(ReadBuffer, ReservingMovesOrGrowsAndKeepsTheOctets) {
  BlockPool pool;
  ReadBuffer buffer;
  buffer.reserve(100, pool);
  EXPECT_GE(buffer.capacity(), 100U);
  receive(buffer, std::string(buffer.capacity() - 4, 'x') + "abcd");
  buffer.consume(buffer.unread_size() - 4);

  const std::size_t capacity = buffer.capacity();
  buffer.reserve(capacity, pool);
  EXPECT_EQ(buffer.capacity(), capacity) << "moving is enough";
  EXPECT_EQ(text_of(buffer), "abcd");
  EXPECT_EQ(buffer.free_space().size(), capacity - 4);

  buffer.reserve(capacity + 1, pool);
  EXPECT_GT(buffer.capacity(), capacity);
  EXPECT_EQ(text_of(buffer), "abcd");
}

TEST(ReadBuffer, AppendsWhateverItsSize) {
  BlockPool pool;
  test::Random random(1);
  for (int run = 0; run < 50; ++run) {
    ReadBuffer buffer;
    std::string expected;
    for (int i = 0; i < 40; ++i) {
      const std::string octets(random.below(3000), static_cast<char>('a' + i % 26));
      buffer.append(octets, pool);
      expected += octets;
      const std::size_t consumed = random.below(expected.size() + 1);
      if (i % 3 == 0) {
        buffer.consume(consumed);
        expected.erase(0, consumed);
      }
      if (i % 5 == 0) buffer.fit(random.below(8000), pool);
      ASSERT_EQ(text_of(buffer), expected);
      buffer.pad();
      ASSERT_EQ(text_of(buffer), expected);
    }
    buffer.release_to(pool);
    EXPECT_EQ(buffer.capacity(), 0U);
    EXPECT_EQ(buffer.unread_size(), 0U);
  }
}

TEST(ReadBuffer, FitLeavesABlockThatIsFarTooLarge) {
  BlockPool pool;
  ReadBuffer buffer;
  buffer.append(std::string(50'000, 'x') + "rest", pool);
  buffer.consume(50'000);
  buffer.fit(0, pool);
  EXPECT_LT(buffer.capacity(), 1024U);
  EXPECT_EQ(text_of(buffer), "rest");

  buffer.fit(900'000, pool);
  EXPECT_GE(buffer.capacity(), 900'000U);
  EXPECT_EQ(text_of(buffer), "rest");
  buffer.fit(900'000, pool);
  EXPECT_GE(buffer.capacity(), 900'000U);
}

TEST(ReadBuffer, TakesFromThePoolAndReleasesToIt) {
  BlockPool pool;
  ReadBuffer buffer;
  buffer.append(std::string_view("abc"), pool);
  const std::size_t taken = test::allocation_count().taken;
  for (int i = 0; i < 10; ++i) {
    buffer.release_to(pool);
    EXPECT_EQ(buffer.capacity(), 0U);
    buffer.append(std::string_view("abc"), pool);
    EXPECT_EQ(text_of(buffer), "abc");
  }
  EXPECT_EQ(test::allocation_count().taken, taken);
}

}  // namespace
}  // namespace rest_echo
