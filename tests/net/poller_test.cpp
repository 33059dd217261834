#include "rest_echo/net/poller.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <set>
#include <vector>

#include "rest_echo/net/signals.hpp"

namespace rest_echo::net {
namespace {

constexpr int kPatienceMs = 10'000;

struct Pipe {
  Pipe() {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds.data()), 0);
    near = UniqueFd(fds[0]);
    far = UniqueFd(fds[1]);
  }
  void make_readable() const { EXPECT_EQ(::write(far.get(), "x", 1), 1); }

  UniqueFd near;
  UniqueFd far;
};

TEST(Poller, ReportsNothingInTime) {
  Poller poller;
  const Pipe pipe;
  EXPECT_TRUE(poller.add(pipe.near.get(), Interest::readable));
  EXPECT_TRUE(poller.wait(0).empty());
  EXPECT_TRUE(poller.wait(5).empty());
}

TEST(Poller, ReportsReadinessUntilItIsGone) {
  Poller poller;
  const Pipe pipe;
  EXPECT_TRUE(poller.add(pipe.near.get(), Interest::readable));
  pipe.make_readable();
  for (int round = 0; round < 3; ++round) {
    const auto events = poller.wait(kPatienceMs);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].data.fd, pipe.near.get());
    EXPECT_EQ(events[0].events, static_cast<std::uint32_t>(EPOLLIN));
  }
}

TEST(Poller, ReportsWhatIsOfInterest) {
  Poller poller;
  const Pipe pipe;
  EXPECT_TRUE(poller.add(pipe.near.get(), Interest::readable));
  EXPECT_TRUE(poller.set_interest(pipe.near.get(), Interest::writable));
  pipe.make_readable();
  const auto events = poller.wait(kPatienceMs);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].events, static_cast<std::uint32_t>(EPOLLOUT));
}

TEST(Poller, ForgetsWhatIsRemovedOrClosed) {
  Poller poller;
  Pipe removed;
  Pipe closed;
  for (const Pipe* pipe : {&removed, &closed}) {
    EXPECT_TRUE(poller.add(pipe->near.get(), Interest::readable));
    pipe->make_readable();
  }
  EXPECT_EQ(poller.wait(kPatienceMs).size(), 2U);
  EXPECT_TRUE(poller.remove(removed.near.get()));
  closed.near = UniqueFd();
  EXPECT_TRUE(poller.wait(0).empty());
}

TEST(Poller, ReportsTheOtherEndGone) {
  Poller poller;
  Pipe pipe;
  EXPECT_TRUE(poller.add(pipe.near.get(), Interest::writable));
  pipe.far = UniqueFd();
  const auto events = poller.wait(kPatienceMs);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_NE(events[0].events & EPOLLHUP, 0U);
}

TEST(Poller, ReportsManyInTurns) {
  Poller poller;
  constexpr std::size_t kCount = 300;  // more than one batch holds
  const std::vector<Pipe> pipes(kCount);
  for (const Pipe& pipe : pipes) {
    EXPECT_TRUE(poller.add(pipe.near.get(), Interest::readable));
    pipe.make_readable();
  }
  std::set<int> ready;
  while (ready.size() < kCount) {
    const auto events = poller.wait(kPatienceMs);
    ASSERT_FALSE(events.empty());
    for (const epoll_event& event : events) {
      ready.insert(event.data.fd);
      EXPECT_TRUE(poller.remove(event.data.fd));
    }
  }
}

TEST(Poller, SaysWhenTheKernelDisagrees) {
  Poller poller;
  const Pipe pipe;
  EXPECT_FALSE(poller.set_interest(pipe.near.get(), Interest::readable));
  EXPECT_TRUE(poller.add(pipe.near.get(), Interest::readable));
  EXPECT_FALSE(poller.add(pipe.near.get(), Interest::readable));
  EXPECT_FALSE(poller.add(-1, Interest::readable));
}

TEST(Signals, WaitToBeTaken) {
  Signals signals({SIGUSR1, SIGUSR2});
  Poller poller;
  EXPECT_TRUE(poller.add(signals.fd(), Interest::readable));
  EXPECT_EQ(signals.take(), std::nullopt);
  ::raise(SIGUSR1);
  ::raise(SIGUSR2);
  EXPECT_EQ(poller.wait(kPatienceMs).size(), 1U);
  const std::set<std::optional<int>> taken{signals.take(), signals.take()};
  EXPECT_EQ(taken, (std::set<std::optional<int>>{SIGUSR1, SIGUSR2}));
  EXPECT_EQ(signals.take(), std::nullopt);
  EXPECT_TRUE(poller.wait(0).empty());
}

}  // namespace
}  // namespace rest_echo::net
