// How the server starts, or says why it does not.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "e2e/client.hpp"
#include "e2e/requests.hpp"
#include "e2e/server.hpp"

namespace rest_echo::e2e {
namespace {

std::size_t line_count(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Somebody else's listening socket.
struct Listener {
  net::UniqueFd fd;
  std::uint16_t port = 0;
};

Listener listen_as_stranger(bool reuses_port) {
  Listener listener{net::UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  const int on = 1;
  if (reuses_port) ::setsockopt(listener.fd.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(listener.fd.get(), generic, size), 0);
  EXPECT_EQ(::listen(listener.fd.get(), 8), 0);
  EXPECT_EQ(::getsockname(listener.fd.get(), generic, &size), 0);
  listener.port = ntohs(address.sin_port);
  return listener;
}

// The line is: Max open files  SOFT  HARD  files
std::string soft_and_hard_descriptor_limit(pid_t pid) {
  constexpr std::string_view kName = "Max open files";
  const std::string limits = read_file("/proc/" + std::to_string(pid) + "/limits");
  std::istringstream fields(limits.substr(std::min(limits.size(), limits.find(kName) + kName.size())));
  std::string soft;
  std::string hard;
  fields >> soft >> hard;
  return soft + " " + hard;
}

TEST(Start, SaysWhatItIsAndThenThatItListens) {
  Server server;
  const std::string output = server.process().output();
  EXPECT_TRUE(output.starts_with("rest-echo ")) << output;
  EXPECT_TRUE(output.size() > 10 && output[10] >= '0' && output[10] <= '9') << "its version: " << output;
  EXPECT_TRUE(output.ends_with("Listening on port " + std::to_string(server.port()) + "\n")) << output;
  EXPECT_EQ(server.process().errors(), "");
}

TEST(Start, AcceptsWhenItSaysThatItListens) {
  for (int round = 0; round < 5; ++round) {
    const Server server;
    EXPECT_EQ(Client(server.port()).ask(kGet).content, kHello);
  }
}

TEST(Start, TakesAnyFreePortForZero) {
  const Server first;
  const Server second;
  EXPECT_NE(first.port(), second.port());
}

// C17: some tools take localhost for ::1, some for 127.0.0.1.
TEST(Start, ServesBothVersionsOfIp) {
  const Server server;
  EXPECT_EQ(Client(server.port(), {.host = "127.0.0.1"}).ask(kGet).content, kHello);
  if (!can_connect(server.port(), "::1")) GTEST_SKIP() << "no IPv6 here";
  EXPECT_EQ(Client(server.port(), {.host = "::1"}).ask(kGet).content, kHello);
}

TEST(Start, FallsBackToIpv4WhereIpv6IsOff) {
  Server server({}, {.has_no_ipv6 = true});
  EXPECT_EQ(Client(server.port()).ask(kGet).content, kHello);
  EXPECT_NE(server.process().errors().find("IPv4"), std::string::npos) << server.process().errors();
}

TEST(Start, ListensOnNothingButTheHostsGiven) {
  const Server server({"--host", "127.0.0.2", "--host", "127.0.0.3"});
  EXPECT_TRUE(can_connect(server.port(), "127.0.0.2"));
  EXPECT_TRUE(can_connect(server.port(), "127.0.0.3"));
  EXPECT_FALSE(can_connect(server.port(), "127.0.0.1"));
}

TEST(Start, ListensOnTheUnspecifiedAddressesOfBothVersions) {
  const Server server({"--host", "::", "--host", "0.0.0.0", "--port", std::to_string(find_free_port())});
  EXPECT_EQ(Client(server.port()).ask(kGet).content, kHello);
  EXPECT_TRUE(can_connect(server.port(), "::1"));
}

TEST(Start, NamesTheAddressesItListensOn) {
  Server server({"--host", "127.0.0.2"});
  const std::string address = "127.0.0.2:" + std::to_string(server.port());
  EXPECT_NE(server.process().output().find(address), std::string::npos) << server.process().output();
}

TEST(Start, IsQuietWhenAsked) {
  const std::uint16_t port = find_free_port();
  Process process({.command = {server_program(), "--quiet", "--port", std::to_string(port)}});
  ASSERT_TRUE(eventually([&] { return can_connect(port); }));
  EXPECT_EQ(Client(port).ask(kGet).content, kHello);
  process.send_signal(SIGTERM);
  EXPECT_EQ(process.wait_for_end(), 0);
  EXPECT_EQ(process.output(), "");
  EXPECT_EQ(process.errors(), "");
}

// A log that is full or gone is no reason to stop.
TEST(Start, ServesThoughNobodyTakesItsOutput) {
  const std::uint16_t port = find_free_port();
  Process process({.command = {server_program(), "--port", std::to_string(port)},
                   .output_file = "/dev/full",
                   .error_file = "/dev/full"});
  ASSERT_TRUE(eventually([&] { return can_connect(port); }));
  EXPECT_EQ(Client(port).ask(kGet).content, kHello);
  process.send_signal(SIGTERM);
  EXPECT_EQ(process.wait_for_end(), 0);
}

TEST(Start, RaisesItsDescriptorLimit) {
  const Server server({}, {.descriptor_soft_limit = 128, .descriptor_hard_limit = 1024});
  EXPECT_EQ(soft_and_hard_descriptor_limit(server.pid()), "1024 1024");
}

// C19: never two servers behind one port, and never without a word.
class PortInUse : public testing::Test {
 protected:
  static void expect_refusal(std::uint16_t port, std::vector<std::string> more = {}) {
    const std::string text = std::to_string(port);
    more.insert(more.begin(), {"--port", text});
    const Finished finished = run_server(more);
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(line_count(finished.errors), 1U) << finished.errors;
    EXPECT_NE(finished.errors.find(":" + text), std::string::npos) << finished.errors;
    EXPECT_NE(finished.errors.find("ddress already in use"), std::string::npos) << finished.errors;
    EXPECT_EQ(finished.output.find("Listening"), std::string::npos) << finished.output;
  }
};

TEST_F(PortInUse, ByAnotherInstance) {
  const Server server;
  expect_refusal(server.port());
  EXPECT_EQ(Client(server.port()).ask(kGet).content, kHello) << "the first one goes on";
}

TEST_F(PortInUse, ByAnotherInstanceOnOneOfTheHosts) {
  const Server server({"--host", "127.0.0.1"});
  expect_refusal(server.port());
  expect_refusal(server.port(), {"--host", "127.0.0.2", "--host", "127.0.0.1"});
}

TEST_F(PortInUse, ByAStranger) {
  const Listener listener = listen_as_stranger(false);
  expect_refusal(listener.port);
}

TEST_F(PortInUse, ByAStrangerWhoWouldShareIt) {
  const Listener listener = listen_as_stranger(true);
  expect_refusal(listener.port);
}

TEST(Start, SaysWhichAddressIsNotOurs) {
  const Finished finished = run_server({"--port", "0", "--host", "192.0.2.1"});
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(line_count(finished.errors), 1U) << finished.errors;
  EXPECT_NE(finished.errors.find("192.0.2.1"), std::string::npos) << finished.errors;
  EXPECT_NE(finished.errors.find("annot assign requested address"), std::string::npos) << finished.errors;
}

TEST(Start, AgainOnThePortItHadBefore) {
  const std::string port = std::to_string(find_free_port());
  for (int round = 0; round < 3; ++round) {
    Server server({"--port", port});
    EXPECT_EQ(std::to_string(server.port()), port);
    Client client(server.port());
    EXPECT_EQ(client.ask(kGet).status, 200);
    EXPECT_EQ(server.stop(), 0);  // its side closes first and stays in TIME-WAIT
  }
}

}  // namespace
}  // namespace rest_echo::e2e
