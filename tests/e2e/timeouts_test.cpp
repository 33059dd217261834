// Everything a peer may take its time for has an end. The times are short here, and none of these tests fails
// because the machine is slow.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "e2e/client.hpp"
#include "e2e/requests.hpp"
#include "e2e/server.hpp"

namespace rest_echo::e2e {
namespace {

// Long enough for a client on a loaded machine to begin in time.
const std::string kTime = "1s";
// Nothing may end much before its time; the server's clock ticks every 4 ms.
constexpr Milliseconds kTimeLeast{970};

void expect_408(Client& client) {
  const Response response = client.receive();
  EXPECT_EQ(response.status, 408);
  EXPECT_TRUE(response.says_close());
  EXPECT_EQ(response.field("Content-Type"), "application/problem+json");
  EXPECT_EQ(client.wait_for_end(), End::finished);
  EXPECT_EQ(client.received(), "");
}

void expect_silent_end(Client& client) {
  EXPECT_EQ(client.wait_for_end(), End::finished);
  EXPECT_EQ(client.received(), "");
}

void expect_service(const Server& server) { EXPECT_EQ(Client(server.port()).ask(kGet).content, kHello); }

TEST(Timeouts, ConnectionWithoutARequest) {
  const Server server({"--head-timeout", kTime});
  const Clock::time_point start = Clock::now();
  Client client(server.port());
  expect_silent_end(client);
  EXPECT_GE(elapsed_since(start), kTimeLeast);
  expect_service(server);
}

TEST(Timeouts, EmptyLineIsNoRequest) {
  const Server server({"--head-timeout", kTime, "--idle-timeout", kTime});
  Client client(server.port());
  client.send("\r\n");
  expect_silent_end(client);
}

TEST(Timeouts, UnfinishedHead) {
  const Server server({"--head-timeout", kTime});
  const Clock::time_point start = Clock::now();
  std::vector<Client> clients;
  for (const char* beginning : {"P", "POST / HTTP/1.1\r\n", "POST / HTTP/1.1\r\nHost: test\r\nContent-"}) {
    clients.emplace_back(server.port()).send(beginning);
  }
  clients.emplace_back(server.port());
  EXPECT_EQ(clients.back().ask(kGet).status, 200);
  clients.back().send("GET / HTTP/1.1\r\nHost:");
  for (Client& client : clients) {
    expect_408(client);
    EXPECT_GE(elapsed_since(start), kTimeLeast);
  }
  expect_service(server);
}

// An octet now and then is a way to hold connections; it buys no time.
TEST(Timeouts, SlowHeadGetsNoMoreTimeThanASilentOne) {
  const Server server({"--head-timeout", kTime});
  Client client(server.port());
  client.send("GET / HTTP/1.1\r\nHost: test\r\nX: ");
  const Clock::time_point start = Clock::now();
  while (!client.has_received_within(Milliseconds{50}) && elapsed_since(start) < kPatience &&
         client.send("x")) {
  }
  EXPECT_LT(elapsed_since(start), kPatience);
  EXPECT_EQ(client.receive().status, 408);
}

TEST(Timeouts, UnfinishedBody) {
  const Server server({"--body-timeout", kTime});
  const std::string counted = post(numbered_document(1));
  const std::string chunked = post_chunked(numbered_document(1), 100);
  std::vector<Client> clients;
  for (const std::string& request : {counted.substr(0, counted.size() - 1),
                                     chunked.substr(0, chunked.size() - 1), chunked.substr(0, 200)}) {
    clients.emplace_back(server.port()).send(request);
  }
  for (Client& client : clients) expect_408(client);
  expect_service(server);
}

TEST(Timeouts, SlowBodyGetsNoMoreTimeThanASilentOne) {
  const Server server({"--body-timeout", kTime});
  Client client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 100000\r\n\r\n");
  const Clock::time_point start = Clock::now();
  while (!client.has_received_within(Milliseconds{50}) && elapsed_since(start) < kPatience &&
         client.send(" ")) {
  }
  EXPECT_LT(elapsed_since(start), kPatience);
  EXPECT_EQ(client.receive().status, 408);
}

TEST(Timeouts, ContentHeldBackForContinue) {
  const Server server({"--body-timeout", kTime});
  Client client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.receive().status, 100);
  expect_408(client);
}

TEST(Timeouts, IdleConnectionIsClosedWithoutAWord) {
  const Server server({"--idle-timeout", kTime});
  Client client(server.port());
  EXPECT_EQ(client.ask(post("{}")).status, 200);
  const Clock::time_point start = Clock::now();
  expect_silent_end(client);
  EXPECT_GE(elapsed_since(start), kTimeLeast - Milliseconds{200}) << "it began when the answer was sent";
  expect_service(server);
}

TEST(Timeouts, BusyConnectionIsNotIdle) {
  const Server server({"--idle-timeout", "2s"});
  Client client(server.port());
  const Clock::time_point start = Clock::now();
  while (elapsed_since(start) < Milliseconds{3'000}) {
    ASSERT_EQ(client.ask(kGet).status, 200) << elapsed_since(start).count() << " ms";
    pause_for(Milliseconds{400});
  }
}

TEST(Timeouts, EachConnectionHasItsOwnTime) {
  const Server server({"--idle-timeout", kTime});
  std::vector<Client> clients;
  for (int number = 0; number < 10; ++number) {
    clients.emplace_back(server.port());
    EXPECT_EQ(clients.back().ask(kGet).status, 200);
    pause_for(Milliseconds{20});
  }
  for (Client& client : clients) expect_silent_end(client);
}

// The kernel takes some; of the rest not an octet is read.
TEST(Timeouts, ClientThatTakesNoAnswer) {
  const Server server({"--write-timeout", kTime});
  const std::size_t count_before = descriptor_count(server.pid());
  Client client(server.port(), {.receive_buffer_size = 4096});
  EXPECT_TRUE(client.send(post(empty_colors(1'000'000))));
  EXPECT_TRUE(client.has_received_within(kPatience));  // it is being answered
  EXPECT_TRUE(eventually([&] { return descriptor_count(server.pid()) <= count_before; }));
  EXPECT_NE(client.wait_for_end(), End::goes_on);
  EXPECT_LT(client.received().size(), empty_colors_answer_size(1'000'000));
  expect_service(server);
}

TEST(Timeouts, ClientThatTakesItsAnswerSlowlyIsGivenTime) {
  const Server server({"--write-timeout", "3s"});
  Client client(server.port(), {.receive_buffer_size = 65'536});
  EXPECT_TRUE(client.send(post(empty_colors(1'000'000), "Connection: close\r\n")));
  // A little now and then, for longer than the timeout.
  std::size_t size = 0;
  for (const Clock::time_point start = Clock::now(); elapsed_since(start) < Milliseconds{4'500};) {
    size += client.discard_some(100'000);
    pause_for(Milliseconds{200});
  }
  EXPECT_EQ(client.wait_for_end(), End::finished);
  size += client.received().size();
  EXPECT_GT(size, empty_colors_answer_size(1'000'000));
}

TEST(Timeouts, PeerThatNeverClosesItsSide) {
  const Server server;
  const std::size_t count_before = descriptor_count(server.pid());
  Client client(server.port());
  EXPECT_EQ(client.ask(post("{}", "Connection: close\r\n")).status, 200);
  EXPECT_TRUE(eventually([&] { return descriptor_count(server.pid()) <= count_before; }));
}

}  // namespace
}  // namespace rest_echo::e2e
