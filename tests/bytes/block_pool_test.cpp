#include "rest_echo/bytes/block_pool.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <utility>

#include "support/allocation_count.hpp"

namespace rest_echo {
namespace {

TEST(BlockPool, TakesPowersOfTwoAndLargeBlocksAsAsked) {
  struct Row {
    std::size_t size_min;
    std::size_t size;
  };
  BlockPool pool;
  for (const Row row :
       {Row{0, 512}, Row{1, 512}, Row{512, 512}, Row{513, 1024}, Row{1025, 2048}, Row{40'000, 65'536},
        Row{131'072, 131'072}, Row{131'073, 131'073}, Row{1'000'000, 1'000'000}}) {
    const Block block = pool.take(row.size_min);
    ASSERT_NE(block.octets, nullptr);
    EXPECT_EQ(block.size, row.size) << row.size_min;
    std::memset(block.octets.get(), 'x', block.size);
  }
}

// Addresses prove nothing, as the heap gives out again what was just freed: these tests count.

TEST(BlockPool, GivesBlocksOutAgain) {
  BlockPool pool;
  for (std::size_t size = BlockPool::kBlockSizeMin; size <= BlockPool::kKeptBlockSizeMax; size *= 2) {
    Block first = pool.take(size);
    Block second = pool.take(size);
    const std::size_t taken = test::allocation_count().taken;
    for (int i = 0; i < 10; ++i) {
      pool.give_back(std::move(first));
      pool.give_back(std::move(second));
      first = pool.take(size);
      second = pool.take(size / 2 + 1);
      ASSERT_NE(first.octets, second.octets);
      ASSERT_EQ(second.size, size);
      std::memset(first.octets.get(), 'x', size);
      std::memset(second.octets.get(), 'y', size);
    }
    EXPECT_EQ(test::allocation_count().taken, taken) << size;
  }
}

TEST(BlockPool, ClassesDoNotMix) {
  BlockPool pool;
  pool.give_back(pool.take(512));
  const std::size_t taken = test::allocation_count().taken;
  const Block larger = pool.take(513);
  std::memset(larger.octets.get(), 'x', larger.size);
  EXPECT_EQ(test::allocation_count().taken, taken + 1);
  EXPECT_EQ(pool.take(512).size, 512U);
  EXPECT_EQ(test::allocation_count().taken, taken + 1);
}

TEST(BlockPool, KeepsABoundedSize) {
  const std::size_t live = test::allocation_count().live;
  {
    BlockPool pool;
    constexpr std::size_t kCountMax = BlockPool::kKeptSizeMax / BlockPool::kKeptBlockSizeMax;
    std::array<Block, kCountMax + 3> blocks;
    for (Block& block : blocks) block = pool.take(BlockPool::kKeptBlockSizeMax);
    for (Block& block : blocks) pool.give_back(std::move(block));
    EXPECT_EQ(test::allocation_count().live, live + kCountMax);

    Block small = pool.take(1);
    pool.give_back(std::move(small));
    EXPECT_EQ(test::allocation_count().live, live + kCountMax) << "full: freed";
    Block one_of_them = pool.take(BlockPool::kKeptBlockSizeMax);
    small = pool.take(1);
    pool.give_back(std::move(small));
    EXPECT_EQ(test::allocation_count().live, live + kCountMax + 1) << "room again: kept";
  }
  EXPECT_EQ(test::allocation_count().live, live);
}

TEST(BlockPool, FreesLargeBlocksAtOnce) {
  BlockPool pool;
  const std::size_t live = test::allocation_count().live;
  pool.give_back(pool.take(BlockPool::kKeptBlockSizeMax + 1));
  EXPECT_EQ(test::allocation_count().live, live);
}

TEST(BlockPool, WelcomesAnEmptyBlock) {
  BlockPool pool;
  pool.give_back(Block{});
  EXPECT_EQ(pool.take(1).size, BlockPool::kBlockSizeMin);
}

}  // namespace
}  // namespace rest_echo
