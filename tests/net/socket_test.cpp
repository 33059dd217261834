#include "rest_echo/net/socket.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

namespace rest_echo::net {
namespace {

std::pair<UniqueFd, UniqueFd> connected_pair() {
  std::array<int, 2> fds{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds.data()), 0);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

int option_of(int fd, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  EXPECT_EQ(::getsockopt(fd, level, name, &value, &size), 0);
  return value;
}

TEST(Host, IsNumericOrRefused) {
  for (const char* host :
       {"127.0.0.1", "0.0.0.0", "255.255.255.255", "::", "::1", "fe80::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(is_numeric_host(host)) << host;
  }
  for (const char* host : {"", " ", "localhost", "127.0.0", "127.0.0.1.", "127.0.0.256", "0x7f.0.0.1", "1",
                           "[::1]", ":::", "::1%lo", "127.0.0.1:80", " ::1", "fe80::12345"}) {
    EXPECT_FALSE(is_numeric_host(host)) << host;
  }
}

TEST(ListenOn, TakesAFreePortForZero) {
  const auto listeners = listen_on({.hosts = {"127.0.0.1"}});
  ASSERT_TRUE(listeners.has_value());
  EXPECT_NE(listeners.value().port, 0);
  ASSERT_EQ(listeners.value().fds.size(), 1U);
  EXPECT_EQ(listeners.value().addresses.front(), "127.0.0.1:" + std::to_string(listeners.value().port));
}

TEST(ListenOn, TakesTheSamePortForAllHosts) {
  const auto listeners = listen_on({.hosts = {"127.0.0.1", "127.0.0.2"}});
  ASSERT_TRUE(listeners.has_value());
  const std::string port = std::to_string(listeners.value().port);
  EXPECT_EQ(listeners.value().addresses,
            (std::vector<std::string>{"127.0.0.1:" + port, "127.0.0.2:" + port}));
}

TEST(ListenOn, WritesIpv6InBrackets) {
  const auto listeners = listen_on({.hosts = {"::1"}});
  if (!listeners) GTEST_SKIP() << "no IPv6 here";
  EXPECT_EQ(listeners.value().addresses.front(), "[::1]:" + std::to_string(listeners.value().port));
  EXPECT_EQ(option_of(listeners.value().fds.front().get(), IPPROTO_IPV6, IPV6_V6ONLY), 1);
}

TEST(ListenOn, TakesBothVersionsByDefault) {
  const auto listeners = listen_on({});
  ASSERT_TRUE(listeners.has_value());
  if (listeners.value().has_fallen_back_to_ipv4) GTEST_SKIP() << "no IPv6 here";
  EXPECT_EQ(option_of(listeners.value().fds.front().get(), IPPROTO_IPV6, IPV6_V6ONLY), 0);
}

TEST(ListenOn, SocketsAreReadyForUse) {
  const auto listeners = listen_on({.hosts = {"127.0.0.1"}});
  ASSERT_TRUE(listeners.has_value());
  const int fd = listeners.value().fds.front().get();
  EXPECT_NE(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(option_of(fd, SOL_SOCKET, SO_ACCEPTCONN), 1);
  EXPECT_EQ(option_of(fd, IPPROTO_TCP, TCP_NODELAY), 1);
}

TEST(ListenOn, NamesThePortInUse) {
  const auto first = listen_on({.hosts = {"127.0.0.1"}});
  ASSERT_TRUE(first.has_value());
  const auto second = listen_on({.hosts = {"127.0.0.2", "127.0.0.1"}, .port = first.value().port});
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().error_number, EADDRINUSE);
  EXPECT_EQ(second.error().address, first.value().addresses.front());
}

TEST(ListenOn, NamesTheAddressThatIsNotOurs) {
  const auto listeners = listen_on({.hosts = {"192.0.2.1"}, .port = 8080});
  ASSERT_FALSE(listeners.has_value());
  EXPECT_EQ(listeners.error().error_number, EADDRNOTAVAIL);
  EXPECT_EQ(listeners.error().address, "192.0.2.1:8080");
}

TEST(ListenOnSharedPort, OpensItSeveralTimesOver) {
  const auto shared = listen_on_shared_port({.hosts = {"127.0.0.1"}}, 3);
  ASSERT_TRUE(shared.has_value());
  ASSERT_EQ(shared.value().size(), 3U);
  for (const Listeners& each : shared.value()) EXPECT_EQ(each.port, shared.value().front().port);
}

TEST(ListenOnSharedPort, IsSharedWithNobodyElse) {
  const auto first = listen_on_shared_port({.hosts = {"127.0.0.1"}}, 2);
  ASSERT_TRUE(first.has_value());
  const auto second = listen_on_shared_port({.hosts = {"127.0.0.1"}, .port = first.value().front().port}, 2);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().error_number, EADDRINUSE);
}

TEST(Transfers, MoveOctets) {
  const auto [near, far] = connected_pair();
  const Transfer sent = send(near.get(), "octets");
  EXPECT_EQ(sent.outcome, Transfer::Outcome::done);
  EXPECT_EQ(sent.size, 6U);
  std::array<char, 4> space{};
  const Transfer received = receive(far.get(), space);
  EXPECT_EQ(received.outcome, Transfer::Outcome::done);
  EXPECT_EQ(std::string_view(space.data(), received.size), "octe");
}

TEST(Transfers, SayWhenThereIsNothing) {
  const auto [near, far] = connected_pair();
  std::array<char, 4> space{};
  EXPECT_EQ(receive(far.get(), space).outcome, Transfer::Outcome::would_block);
}

TEST(Transfers, SayWhenThereIsNoRoom) {
  const auto [near, far] = connected_pair();
  const std::string octets(1 << 20, 'x');
  Transfer transfer = send(near.get(), octets);
  EXPECT_EQ(transfer.outcome, Transfer::Outcome::done);
  EXPECT_LT(transfer.size, octets.size());
  while (transfer.outcome == Transfer::Outcome::done) transfer = send(near.get(), octets);
  EXPECT_EQ(transfer.outcome, Transfer::Outcome::would_block);
  EXPECT_EQ(transfer.size, 0U);
}

TEST(Transfers, EndOfInputIsNoOctets) {
  auto [near, far] = connected_pair();
  near = UniqueFd();
  std::array<char, 4> space{};
  const Transfer transfer = receive(far.get(), space);
  EXPECT_EQ(transfer.outcome, Transfer::Outcome::done);
  EXPECT_EQ(transfer.size, 0U);
}

// Without a signal, too: the process would be gone.
TEST(Transfers, FailWhenNobodyReads) {
  auto [near, far] = connected_pair();
  near = UniqueFd();
  EXPECT_EQ(send(far.get(), "octets").outcome, Transfer::Outcome::failed);
}

}  // namespace
}  // namespace rest_echo::net
