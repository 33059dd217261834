#include "rest_echo/net/load_table.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace rest_echo::net {
namespace {

/// A pipe, whose ends stand for connections.
struct Pipe {
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe2");
    receiving = UniqueFd(ends[0]);
    sending = UniqueFd(ends[1]);
  }
  UniqueFd receiving;
  UniqueFd sending;
};

bool is_same_file(int a, int b) {
  struct stat first {};
  struct stat second {};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

bool is_readable(int fd) {
  pollfd watched{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&watched, 1, 0) == 1;
}

/// The exit status of a process that does this.
int run_in_child(const std::function<bool()>& holds) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(holds() ? 0 : 1);
  int status = -1;
  return ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

using Target = std::optional<std::size_t>;

TEST(LoadTable, NamesTheLeastLoadedSeatThatIsTwoBelow) {
  struct Row {
    std::string name;
    std::vector<int> counts;  // by seat; -1: closed. The first one asks.
    Target target;
  };
  for (const Row& row : {
           Row{"equal", {5, 5}, std::nullopt},
           Row{"one fewer", {5, 4}, std::nullopt},
           Row{"two fewer", {5, 3}, 1},
           Row{"two fewer, from none", {2, 0}, 1},
           Row{"one against none", {1, 0}, std::nullopt},
           Row{"none", {0, 0}, std::nullopt},
           Row{"more", {3, 5}, std::nullopt},
           Row{"the least of several", {9, 6, 2, 3}, 2},
           Row{"the first of equals", {9, 4, 4}, 1},
           Row{"not a closed one", {9, -1, 6}, 2},
           Row{"none but closed ones", {9, -1, -1}, std::nullopt},
       }) {
    LoadTable table(row.counts.size());
    for (std::size_t seat = 0; seat < row.counts.size(); ++seat) {
      if (row.counts[seat] < 0) continue;
      table.open(seat);
      table.set_count(seat, static_cast<std::size_t>(row.counts[seat]));
    }
    const auto own = static_cast<std::size_t>(row.counts.front());
    EXPECT_EQ(table.reserve_less_loaded(0, own), row.target) << row.name;
  }
}

TEST(LoadTable, EverythingIsLessLoadedThanTheLargestCount) {
  LoadTable table(3);
  table.open(0);
  table.open(2);
  table.set_count(0, 1);
  table.set_count(2, 50'000);
  EXPECT_EQ(table.reserve_less_loaded(0, LoadTable::kCountMax), 2);
  table.close(2);
  EXPECT_EQ(table.reserve_less_loaded(0, LoadTable::kCountMax), std::nullopt);
}

TEST(LoadTable, CountsWhatIsReserved) {
  LoadTable table(2);
  table.open(0);
  table.open(1);
  EXPECT_FALSE(table.is_awaited(1));
  EXPECT_EQ(table.reserve_less_loaded(0, 3), 1);
  EXPECT_TRUE(table.is_awaited(1));
  EXPECT_EQ(table.reserve_less_loaded(0, 2), std::nullopt) << "one is on its way there";
  EXPECT_EQ(table.reserve_less_loaded(0, 3), 1);
  table.cancel(1);
  table.cancel(1);
  EXPECT_FALSE(table.is_awaited(1));
  EXPECT_EQ(table.reserve_less_loaded(0, 2), 1);
}

TEST(LoadTable, HandsADescriptorOver) {
  LoadTable table(2);
  table.open(0);
  table.open(1);
  const Pipe pipe;
  ASSERT_EQ(table.reserve_less_loaded(0, 2), 1);
  EXPECT_FALSE(is_readable(table.queue_fd(1)));
  ASSERT_TRUE(table.hand_over(1, pipe.receiving.get(), true));
  EXPECT_TRUE(is_readable(table.queue_fd(1)));
  EXPECT_FALSE(is_readable(table.queue_fd(0)));
  EXPECT_FALSE(table.take(0).fd.is_open());
  const UniqueFd taken = table.take(1).fd;
  ASSERT_TRUE(taken.is_open());
  EXPECT_NE(taken.get(), pipe.receiving.get());
  EXPECT_TRUE(is_same_file(taken.get(), pipe.receiving.get()));
  EXPECT_NE(::fcntl(taken.get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_FALSE(table.is_awaited(1));
  EXPECT_FALSE(table.take(1).fd.is_open());
  EXPECT_FALSE(is_readable(table.queue_fd(1)));
}

TEST(LoadTable, TellsWhetherTheConnectionHasHadAnAnswer) {
  LoadTable table(2);
  table.open(0);
  table.open(1);
  const Pipe pipe;
  for (const bool was_served : {true, false, true}) {
    ASSERT_EQ(table.reserve_less_loaded(0, LoadTable::kCountMax), 1);
    ASSERT_TRUE(table.hand_over(1, pipe.receiving.get(), was_served));
  }
  EXPECT_TRUE(table.take(1).was_served);
  EXPECT_FALSE(table.take(1).was_served);
  EXPECT_TRUE(table.take(1).was_served);
}

TEST(LoadTable, CountsWhatIsTakenUntilTheTakerDoes) {
  LoadTable table(2);
  table.open(0);
  table.open(1);
  const Pipe pipe;
  ASSERT_EQ(table.reserve_less_loaded(0, 2), 1);
  ASSERT_TRUE(table.hand_over(1, pipe.receiving.get(), true));
  const UniqueFd taken = table.take(1).fd;
  EXPECT_EQ(table.reserve_less_loaded(0, 2), std::nullopt) << "the other has one now, and would get a second";
  table.set_count(1, 1);
  EXPECT_EQ(table.reserve_less_loaded(0, 2), std::nullopt);
  EXPECT_EQ(table.reserve_less_loaded(0, 3), 1);
}

TEST(LoadTable, CancelsWhatTheQueueHasNoRoomFor) {
  LoadTable table(2);
  table.open(0);
  table.open(1);
  const Pipe pipe;
  std::size_t count = 0;
  for (; count < 100'000; ++count) {
    ASSERT_EQ(table.reserve_less_loaded(0, LoadTable::kCountMax), 1);
    if (!table.hand_over(1, pipe.receiving.get(), true)) break;
  }
  ASSERT_GT(count, 0U);
  ASSERT_LT(count, 100'000U) << "a full queue must not make anybody wait";
  EXPECT_EQ(table.reserve_less_loaded(0, count + 2), 1) << "what failed is counted no more";
  table.cancel(1);
  for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(table.take(1).fd.is_open()) << i;
  EXPECT_FALSE(table.take(1).fd.is_open());
  EXPECT_FALSE(table.is_awaited(1));
  ASSERT_EQ(table.reserve_less_loaded(0, LoadTable::kCountMax), 1);
  EXPECT_TRUE(table.hand_over(1, pipe.receiving.get(), true)) << "there is room again";
}

TEST(LoadTable, TakesNothingWhereThereIsNoDescriptorLeft) {
  LoadTable table(2);
  table.open(0);
  table.open(1);
  const Pipe pipe;
  ASSERT_EQ(table.reserve_less_loaded(0, 2), 1);
  ASSERT_TRUE(table.hand_over(1, pipe.receiving.get(), true));
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const UniqueFd taken = table.take(1).fd;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_FALSE(taken.is_open());
  EXPECT_FALSE(table.is_awaited(1));
}

TEST(LoadTable, ChangesItsVersionWithEveryCount) {
  LoadTable table(2);
  std::int32_t version = table.version();
  const auto has_changed = [&] { return std::exchange(version, table.version()) != table.version(); };
  EXPECT_FALSE(has_changed());
  table.open(0);
  EXPECT_TRUE(has_changed());
  table.set_count(0, 1);
  EXPECT_TRUE(has_changed());
  table.set_count(0, 0);
  EXPECT_TRUE(has_changed());
  EXPECT_FALSE(has_changed());
}

TEST(LoadTable, KeepsAClosedSeatsQueueForTheNextWhoSitsThere) {
  LoadTable table(2);
  table.open(0);
  table.open(1);
  const Pipe pipe;
  ASSERT_EQ(table.reserve_less_loaded(0, 2), 1);
  table.close(1);
  EXPECT_TRUE(table.is_awaited(1));
  ASSERT_TRUE(table.hand_over(1, pipe.receiving.get(), true)) << "it was promised before";
  EXPECT_EQ(table.reserve_less_loaded(0, LoadTable::kCountMax), std::nullopt);
  table.open(1);
  EXPECT_EQ(table.reserve_less_loaded(0, 2), std::nullopt) << "one waits there";
  EXPECT_TRUE(is_same_file(table.take(1).fd.get(), pipe.receiving.get()));
}

TEST(LoadTable, SumsWhatTheSeatsHaveCounted) {
  LoadTable table(3);
  Counters counters = table.open(0);
  EXPECT_EQ(counters.connection_count, 0U);
  counters.connection_count = 7;
  counters.response_counts.back() = 3;
  table.set_counters(0, counters);
  ASSERT_EQ(run_in_child([&] {
              Counters others = table.open(2);
              others.connection_count = 5;
              others.response_counts.back() = 4;
              table.set_counters(2, others);
              return true;
            }),
            0);
  EXPECT_EQ(table.counters().connection_count, 12U);
  EXPECT_EQ(table.counters().response_counts.back(), 7U);
  table.close(2);
  EXPECT_EQ(table.counters().connection_count, 12U) << "what a worker has counted outlives it";
  EXPECT_EQ(table.open(2).connection_count, 5U) << "and the next one goes on from there";
}

TEST(LoadTable, IsSharedWithChildren) {
  LoadTable table(2);
  const Pipe pipe;
  table.open(0);
  // The child sits down, counts, and hands its own end of the pipe over.
  ASSERT_EQ(run_in_child([&] {
              table.open(1);
              table.set_count(1, 7);
              return table.reserve_less_loaded(1, 7) == Target{0} &&
                     table.hand_over(0, pipe.receiving.get(), true);
            }),
            0);
  EXPECT_TRUE(table.is_awaited(0));
  EXPECT_EQ(table.reserve_less_loaded(0, 100), 1) << "its seat outlives it";
  EXPECT_TRUE(is_same_file(table.take(0).fd.get(), pipe.receiving.get())) << "and so does its gift";
  // And the other way round.
  ASSERT_TRUE(table.hand_over(1, pipe.receiving.get(), true));
  ASSERT_EQ(run_in_child([&] { return is_same_file(table.take(1).fd.get(), pipe.receiving.get()); }), 0);
  EXPECT_FALSE(table.is_awaited(1));
}

// Processes that each have too many hand over all at once, until nobody has two more than another. Whoever is
// given one was the lightest at that moment, so all end with their fair share.
TEST(LoadTable, ReservationsNeverOvershootUnderContention) {
  constexpr std::size_t kSeatCount = 5;
  constexpr std::size_t kOwnCount = 2'000;  // of all but the first
  constexpr std::size_t kFairShare = kOwnCount * (kSeatCount - 1) / kSeatCount;
  LoadTable table(kSeatCount);
  for (std::size_t seat = 0; seat < kSeatCount; ++seat) {
    table.open(seat);
    if (seat > 0) table.set_count(seat, kOwnCount);
  }
  const Pipe start;
  const Pipe results;
  std::vector<pid_t> givers;
  for (std::size_t seat = 1; seat < kSeatCount; ++seat) {
    const pid_t pid = ::fork();
    ASSERT_NE(pid, -1);
    if (pid != 0) {
      givers.push_back(pid);
      continue;
    }
    char octet = 0;
    bool is_sound = ::read(start.receiving.get(), &octet, 1) == 1;
    std::size_t count = kOwnCount;
    while (table.reserve_less_loaded(seat, count)) table.set_count(seat, --count);
    const std::array<std::size_t, 2> result{seat, count};
    is_sound &= ::write(results.sending.get(), &result, sizeof result) == sizeof result;
    ::_exit(is_sound ? 0 : 1);
  }
  ASSERT_EQ(::write(start.sending.get(), "now!", givers.size()), static_cast<ssize_t>(givers.size()));
  for (const pid_t pid : givers) {
    int status = -1;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    ASSERT_EQ(status, 0);
  }
  std::array<std::size_t, kSeatCount> loads{};
  for (std::size_t i = 0; i < givers.size(); ++i) {
    std::array<std::size_t, 2> result{};
    ASSERT_EQ(::read(results.receiving.get(), &result, sizeof result), static_cast<ssize_t>(sizeof result));
    loads[result[0]] = result[1];
  }
  for (std::size_t seat = 0; seat < kSeatCount; ++seat) {
    for (; table.is_awaited(seat); table.cancel(seat)) ++loads[seat];
    EXPECT_EQ(loads[seat], kFairShare) << seat;
  }
}

}  // namespace
}  // namespace rest_echo::net
