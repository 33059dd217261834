#include "rest_echo/net/deadline_list.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rest_echo::net {
namespace {

constexpr std::int64_t kTimeoutMs = 100;

class DeadlineListTest : public testing::Test {
 protected:
  DeadlineListTest() { list_.set_timeout_ms(kTimeoutMs); }

  // The deadlines in order, read both ways.
  std::vector<std::int64_t> deadlines() const {
    std::vector<std::int64_t> forwards;
    std::vector<std::int64_t> backwards;
    const Connection* last = nullptr;
    for (const Connection* each = list_.front(); each != nullptr; each = each->next) {
      forwards.push_back(each->deadline_ms);
      last = each;
    }
    for (const Connection* each = last; each != nullptr; each = each->previous) {
      backwards.insert(backwards.begin(), each->deadline_ms);
    }
    EXPECT_EQ(forwards, backwards);
    return forwards;
  }

  DeadlineList list_;
  Connection first_{UniqueFd()};
  Connection second_{UniqueFd()};
  Connection third_{UniqueFd()};
};

using Deadlines = std::vector<std::int64_t>;

TEST_F(DeadlineListTest, IsEmptyAtFirst) { EXPECT_EQ(list_.front(), nullptr); }

TEST_F(DeadlineListTest, KeepsTheOrderOfArrival) {
  list_.push_back(first_, 1);
  list_.push_back(second_, 2);
  list_.push_back(third_, 2);
  EXPECT_EQ(list_.front(), &first_);
  EXPECT_EQ(deadlines(), (Deadlines{101, 102, 102}));
}

TEST_F(DeadlineListTest, RemovesAnyOne) {
  Connection* const all[] = {&first_, &second_, &third_};
  for (Connection* removed : all) {
    list_ = DeadlineList();
    list_.set_timeout_ms(kTimeoutMs);
    Deadlines expected;
    for (std::int64_t now_ms = 1; Connection * each : all) {
      list_.push_back(*each, now_ms);
      if (each != removed) expected.push_back(now_ms + kTimeoutMs);
      ++now_ms;
    }
    list_.remove(*removed);
    EXPECT_EQ(deadlines(), expected);
  }
}

TEST_F(DeadlineListTest, IsUsableAfterItsLastIsRemoved) {
  list_.push_back(first_, 1);
  list_.remove(first_);
  EXPECT_EQ(list_.front(), nullptr);
  list_.push_back(second_, 5);
  list_.push_back(first_, 6);
  EXPECT_EQ(deadlines(), (Deadlines{105, 106}));
}

TEST_F(DeadlineListTest, RenewedOneGoesToTheEnd) {
  list_.push_back(first_, 1);
  list_.push_back(second_, 2);
  list_.push_back(third_, 3);
  list_.renew(first_, 10);
  EXPECT_EQ(list_.front(), &second_);
  EXPECT_EQ(deadlines(), (Deadlines{102, 103, 110}));
  list_.renew(third_, 11);
  EXPECT_EQ(deadlines(), (Deadlines{102, 110, 111}));
  list_.renew(third_, 12);
  EXPECT_EQ(deadlines(), (Deadlines{102, 110, 112}));
}

TEST_F(DeadlineListTest, RenewsTheOnlyOne) {
  list_.push_back(first_, 1);
  list_.renew(first_, 7);
  EXPECT_EQ(deadlines(), (Deadlines{107}));
}

TEST_F(DeadlineListTest, KnowsAges) {
  list_.push_back(first_, 1);
  EXPECT_EQ(list_.age_ms(first_, 1), 0);
  EXPECT_EQ(list_.age_ms(first_, 31), 30);
  list_.renew(first_, 31);
  EXPECT_EQ(list_.age_ms(first_, 31), 0);
}

}  // namespace
}  // namespace rest_echo::net
