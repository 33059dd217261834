// Peers that break off, stutter and talk nonsense harm nobody else.

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "e2e/client.hpp"
#include "e2e/requests.hpp"
#include "e2e/server.hpp"

namespace rest_echo::e2e {
namespace {

class Robustness : public testing::Test {
 protected:
  Robustness() { descriptor_count_before_ = descriptor_count(server_.pid()); }

  void expect_service() {
    Client client(server_.port());
    EXPECT_EQ(client.ask(kGet).content, kHello);
    EXPECT_EQ(client.ask(post(numbered_document(1))).content, numbered_document(1));
  }
  // Nothing is left of the peers that went away.
  void expect_nothing_left() {
    EXPECT_TRUE(eventually([&] { return descriptor_count(server_.pid()) <= descriptor_count_before_; }));
  }

  Server server_;
  std::size_t descriptor_count_before_ = 0;
  std::mt19937 random_{20'260'101};
};

TEST_F(Robustness, ResetAtAnyPoint) {
  const std::string requests =
      post(numbered_document(1, 2'000)) + post_chunked(numbered_document(2, 300), 50) + std::string(kGet);
  for (std::size_t size = 0; size < requests.size(); size += 13) {
    Client client(server_.port());
    client.send(std::string_view(requests).substr(0, size));
    if (size % 2 == 0) pause_for(Milliseconds{1});
    client.reset();
  }
  expect_service();
  expect_nothing_left();
}

TEST_F(Robustness, ResetWithAnswersUnread) {
  for (int round = 0; round < 20; ++round) {
    Client client(server_.port(), {.receive_buffer_size = 4096});
    client.send(post(empty_colors(400'000)));
    EXPECT_TRUE(client.has_received_within(kPatience));
    if (round % 2 == 0) client.send(post(numbered_document(1, 50'000)));
    client.reset();
  }
  expect_service();
  expect_nothing_left();
}

TEST_F(Robustness, ResetWhileAnErrorLingers) {
  for (int round = 0; round < 50; ++round) {
    Client client(server_.port());
    client.send("NONSENSE\r\n\r\n" + std::string(static_cast<std::size_t>(round) * 1'000, 'x'));
    if (round % 2 == 0) {
      EXPECT_EQ(client.receive().status, 400);
    }
    client.reset();
  }
  expect_service();
  expect_nothing_left();
}

TEST_F(Robustness, ConnectionsThatSayNothing) {
  for (int round = 0; round < 300; ++round) {
    Client client(server_.port());
    if (round % 3 == 0) client.reset();
  }
  expect_service();
  expect_nothing_left();
}

// C14
TEST_F(Robustness, TlsHelloIsNoRequest) {
  const std::string hello("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a hello of another kind\r\n\r\n", 40);
  Client client(server_.port());
  client.send(hello);
  EXPECT_EQ(client.receive().status, 400);
  EXPECT_EQ(client.wait_for_end(), End::finished);
  expect_service();
}

TEST_F(Robustness, HttpTwoPrefaceIsRefused) {
  Client client(server_.port());
  client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  EXPECT_EQ(client.receive().status, 505);
  EXPECT_EQ(client.wait_for_end(), End::finished);
  EXPECT_EQ(client.received(), "");
}

TEST_F(Robustness, RandomOctets) {
  std::uniform_int_distribution<int> octet(0, 255);
  std::uniform_int_distribution<std::size_t> size(1, 3'000);
  for (int round = 0; round < 200; ++round) {
    std::string garbage(size(random_), '\0');
    for (char& each : garbage) each = static_cast<char>(octet(random_));
    Client client(server_.port());
    client.send(garbage);
    client.finish_sending();
    EXPECT_NE(client.wait_for_end(), End::goes_on);
    EXPECT_TRUE(client.received().empty() || client.received().starts_with("HTTP/1.1 4") ||
                client.received().starts_with("HTTP/1.1 5"))
        << client.received();
  }
  expect_service();
  expect_nothing_left();
}

// Good requests with an octet or two changed.
TEST_F(Robustness, AlmostRequests) {
  const std::vector<std::string> originals{post(numbered_document(1, 120)),
                                           post_chunked(numbered_document(2, 60), 9), std::string(kGet)};
  std::uniform_int_distribution<int> octet(0, 255);
  for (int round = 0; round < 300; ++round) {
    std::string request = originals[static_cast<std::size_t>(round) % originals.size()];
    std::uniform_int_distribution<std::size_t> offset(0, request.size() - 1);
    for (int change = 0; change < 2; ++change) request[offset(random_)] = static_cast<char>(octet(random_));
    Client client(server_.port());
    client.send(request + std::string(kGet));
    client.finish_sending();
    EXPECT_NE(client.wait_for_end(), End::goes_on) << request;
    EXPECT_TRUE(client.received().starts_with("HTTP/1.1 ")) << request;
  }
  expect_service();
  expect_nothing_left();
}

TEST_F(Robustness, OthersAreServedWhileOneKeepsItBusy) {
  Client busy(server_.port());
  std::string requests;
  for (std::size_t number = 0; number < 1'000; ++number) requests += post(numbered_document(number, 200));
  for (int round = 0; round < 20; ++round) {
    busy.send(requests);
    const Clock::time_point start = Clock::now();
    expect_service();
    EXPECT_LT(elapsed_since(start), Milliseconds{5'000});
    for (int number = 0; number < 1'000; ++number) ASSERT_EQ(busy.receive().status, 200);
  }
}

}  // namespace
}  // namespace rest_echo::e2e
