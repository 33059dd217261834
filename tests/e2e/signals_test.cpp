// C04, C05: how the server ends.

#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "e2e/client.hpp"
#include "e2e/requests.hpp"
#include "e2e/server.hpp"

namespace rest_echo::e2e {
namespace {

// Instrumented, it looks for leaks at the end, which takes its time.
constexpr Milliseconds kAtOnce = kIsSanitized ? Milliseconds{10'000} : Milliseconds{3'000};

/// A server with a connection at rest, whose end shows that draining has begun.
class Signals : public testing::Test {
 protected:
  void start(std::vector<std::string> arguments) {
    server_ = std::make_unique<Server>(std::move(arguments));
    witness_ = std::make_unique<Client>(server_->port());
    ASSERT_EQ(witness_->ask(kGet).status, 200);
  }
  Client connect(const ClientOptions& options = {}) { return Client(server_->port(), options); }

  // Sends a signal and waits until the server has taken it.
  void begin_draining(int signal = SIGTERM) {
    server_->process().send_signal(signal);
    ASSERT_EQ(witness_->wait_for_end(), End::finished);
    ASSERT_EQ(witness_->received(), "");
  }
  void expect_end(int status, Milliseconds limit) {
    const Clock::time_point start = Clock::now();
    EXPECT_EQ(server_->wait_for_end(), status) << server_->process().errors();
    EXPECT_LT(elapsed_since(start), limit);
  }

  std::unique_ptr<Server> server_;
  std::unique_ptr<Client> witness_;
};

TEST_F(Signals, IdleServerEndsAtOnce) {
  for (const int signal : {SIGTERM, SIGINT}) {
    SCOPED_TRACE(signal);
    start({});
    server_->process().send_signal(signal);
    expect_end(0, kAtOnce);
  }
}

TEST_F(Signals, ConnectionsAtRestAreClosedAtOnce) {
  start({"--grace-period", "60s"});
  std::vector<Client> clients;
  for (int number = 0; number < 5; ++number) {
    clients.push_back(connect());
    EXPECT_EQ(clients.back().ask(kGet).status, 200);
  }
  clients.push_back(connect());  // silent
  clients.push_back(connect());
  clients.back().send("\r\n");                 // not a request either
  EXPECT_EQ(connect().ask(kGet).status, 200);  // all of them have been accepted
  begin_draining();
  for (Client& client : clients) {
    EXPECT_EQ(client.wait_for_end(), End::finished);
    EXPECT_EQ(client.received(), "");
  }
  expect_end(0, kAtOnce);
}

TEST_F(Signals, NoNewConnectionsAreTaken) {
  start({"--grace-period", "60s"});
  Client client = connect();
  client.send("GET / HTTP/1.1\r\n");
  EXPECT_EQ(connect().ask(kGet).status, 200);
  begin_draining();
  EXPECT_TRUE(eventually([&] { return !can_connect(server_->port()); }));
  client.send("Host: test\r\n\r\n");
  EXPECT_EQ(client.receive().status, 200);
  client.reset();
  expect_end(0, kAtOnce);
}

TEST_F(Signals, RequestThatHasBegunIsAnswered) {
  const std::string document = numbered_document(1);
  const std::string counted = post(document);
  const std::string chunked = post_chunked(document, 512);
  for (const std::string& request : {counted, chunked}) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{30}, request.size() / 2, request.size() - 1}) {
      SCOPED_TRACE(size);
      start({"--grace-period", "60s"});
      Client client = connect();
      client.send(std::string_view(request).substr(0, size));
      EXPECT_EQ(connect().ask(kGet).status, 200);  // it has been read by now
      begin_draining();
      pause_for(Milliseconds{50});
      client.send(std::string_view(request).substr(size));
      const Response response = client.receive();
      EXPECT_EQ(response.status, 200);
      EXPECT_EQ(response.content, document);
      EXPECT_TRUE(response.says_close());
      EXPECT_EQ(client.wait_for_end(), End::finished);
      EXPECT_EQ(client.received(), "");
      client.reset();
      expect_end(0, kAtOnce);
    }
  }
}

TEST_F(Signals, NothingIsAnsweredAfterTheLastAnswer) {
  start({"--grace-period", "60s"});
  Client client = connect();
  const std::string request = post(numbered_document(1));
  client.send(std::string_view(request).substr(0, 100));
  EXPECT_EQ(connect().ask(kGet).status, 200);
  begin_draining();
  client.send(request.substr(100) + post(numbered_document(2)));
  EXPECT_TRUE(client.receive().says_close());
  EXPECT_EQ(client.wait_for_end(), End::finished);
  EXPECT_EQ(client.received(), "");
  client.reset();
  expect_end(0, kAtOnce);
}

TEST_F(Signals, HealthCheckSaysThatItIsEnding) {
  start({"--grace-period", "60s"});
  Client client = connect();
  client.send("GET /healthz HTTP/1.1\r\nHost: test\r\n");
  EXPECT_EQ(connect().ask(kGet).status, 200);
  begin_draining();
  const Response response = client.ask("\r\n");
  EXPECT_EQ(response.status, 503);
  EXPECT_TRUE(response.says_close());
  EXPECT_EQ(response.field("Content-Type"), "application/problem+json");
}

TEST_F(Signals, AnswersAreDeliveredToASlowReader) {
  start({"--grace-period", "60s"});
  Client client = connect({.receive_buffer_size = 4096});
  EXPECT_TRUE(client.send(post(empty_colors(1'000'000))));
  ASSERT_TRUE(client.has_received_within(kPatience));
  begin_draining();
  const Response response = client.receive();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content.size(), empty_colors_answer_size(1'000'000));
  // Its head was written before, so it does not say so, but the connection has an end.
  EXPECT_EQ(client.wait_for_end(), End::finished);
  client.reset();
  expect_end(0, kAtOnce);
}

TEST_F(Signals, StuckClientsDoNotOutlastTheGracePeriod) {
  start({"--grace-period", "1s"});
  Client halfway = connect();
  halfway.send(std::string_view(post(numbered_document(1))).substr(0, 1000));
  Client reads_nothing = connect({.receive_buffer_size = 4096});
  EXPECT_TRUE(reads_nothing.send(post(empty_colors(1'000'000))));
  ASSERT_TRUE(reads_nothing.has_received_within(kPatience));
  const Clock::time_point begin = Clock::now();
  begin_draining();
  expect_end(0, Milliseconds{1'000} + kAtOnce);
  EXPECT_GE(elapsed_since(begin), Milliseconds{950});
}

TEST_F(Signals, NoGraceIsNoGrace) {
  start({"--grace-period", "0"});
  Client halfway = connect();
  halfway.send("POST ");
  EXPECT_EQ(connect().ask(kGet).status, 200);
  server_->process().send_signal(SIGTERM);
  expect_end(0, kAtOnce);
}

TEST_F(Signals, SecondSignalEndsItAtOnce) {
  for (const int signal : {SIGTERM, SIGINT}) {
    SCOPED_TRACE(signal);
    start({"--grace-period", "60s"});
    Client halfway = connect();
    halfway.send("POST ");
    EXPECT_EQ(connect().ask(kGet).status, 200);
    begin_draining();
    pause_for(Milliseconds{200});
    server_->process().send_signal(signal);
    expect_end(128 + signal, kAtOnce);
  }
}

// As `timeout` and launchers do it: they tell the process and then its group.
TEST_F(Signals, SameWishTwiceIsNoSecondSignal) {
  start({"--grace-period", "60s"});
  const std::string request = post(numbered_document(1));
  Client client = connect();
  client.send(std::string_view(request).substr(0, 100));
  EXPECT_EQ(connect().ask(kGet).status, 200);
  server_->process().send_signal(SIGSTOP);
  server_->process().send_signal(SIGTERM);
  server_->process().send_signal(SIGINT);
  server_->process().send_signal(SIGCONT);
  EXPECT_EQ(witness_->wait_for_end(), End::finished);
  client.send(std::string_view(request).substr(100));
  EXPECT_EQ(client.receive().content, numbered_document(1));
  client.reset();
  expect_end(0, kAtOnce);
}

// Nothing but its own handling makes process 1 of a container listen to a signal.
TEST(ProcessOne, ListensToSignals) {
  const std::vector<std::string> unshare{"unshare", "--pid", "--fork", "--kill-child"};
  std::vector<std::string> probe = unshare;
  probe.emplace_back("true");
  if (!has_program("unshare") || run({.command = probe}).status != 0)
    GTEST_SKIP() << "no process namespaces here";
  for (const int signal : {SIGTERM, SIGINT}) {
    SCOPED_TRACE(signal);
    Server server({}, {.command = unshare});
    Client client(server.port());
    EXPECT_EQ(client.ask(kGet).status, 200);
    const std::vector<pid_t> children = children_of(server.pid());
    ASSERT_EQ(children.size(), 1U);
    ::kill(children.front(), signal);
    const Clock::time_point start = Clock::now();
    EXPECT_EQ(server.wait_for_end(), 0);
    EXPECT_LT(elapsed_since(start), kAtOnce);
  }
}

}  // namespace
}  // namespace rest_echo::e2e
