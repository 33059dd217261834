// However the kernel spreads connections over the workers, they end up evenly spread.

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "cluster/workers.hpp"
#include "e2e/requests.hpp"

namespace rest_echo::e2e {
namespace {

std::string describe(const std::vector<std::size_t>& counts) {
  std::string text;
  for (const std::size_t count : counts) text.append(" ").append(std::to_string(count));
  return text;
}

bool is_balanced(const std::vector<std::size_t>& counts, std::size_t connection_count) {
  const auto [least, most] = std::ranges::minmax(counts);
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0}) == connection_count &&
         most - least <= 1;
}

void expect_balance(std::uint16_t port, const std::vector<pid_t>& workers, std::size_t connection_count) {
  std::vector<std::size_t> counts;
  EXPECT_TRUE(eventually([&] {
    counts = connection_counts(port, workers);
    return is_balanced(counts, connection_count);
  })) << connection_count
      << " connections:" << describe(counts);
}

class Balance : public testing::TestWithParam<int> {
 protected:
  Server server_{{"--workers", std::to_string(GetParam())}};
  std::vector<pid_t> workers_ = workers_of(server_.pid());
};

TEST_P(Balance, OfConnectionsThatSayNothing) {
  for (const std::size_t count : {10U, 40U, 100U}) {
    const Clients clients = connect_clients(server_.port(), count);
    expect_balance(server_.port(), workers_, count);
  }
}

TEST_P(Balance, OfConnectionsThatHaveBeenAnswered) {
  for (const std::size_t count : {10U, 40U, 100U}) {
    const Clients clients = connect_clients(server_.port(), count);
    EXPECT_EQ(answered_count(clients), count);
    expect_balance(server_.port(), workers_, count);
    EXPECT_EQ(answered_count(clients), count) << "each is as good as before";
  }
}

TEST_P(Balance, HoldsOnceItIsReached) {
  const Clients clients = connect_clients(server_.port(), 40);
  expect_balance(server_.port(), workers_, 40);
  const auto owners = owners_of(server_.port(), workers_);
  EXPECT_EQ(answered_count(clients), 40U);
  EXPECT_EQ(owners_of(server_.port(), workers_), owners) << "nobody is handed over without need";
}

TEST_P(Balance, UnderLoad) {
  if (!has_program("wrk")) GTEST_SKIP() << "no wrk here";
  Load load(server_, 10, 4);
  expect_balance(server_.port(), workers_, 10);
  const Load::Report report = load.wait_for_end();
  EXPECT_TRUE(report.has_ended_well);
  EXPECT_GT(report.request_count, 0U);
  EXPECT_FALSE(report.has_socket_errors) << report.text;
  EXPECT_FALSE(report.has_other_statuses) << report.text;
}

TEST_P(Balance, OfConnectionsWithRequestsUnderWay) {
  // What has begun stays where it is and is answered; what is at rest moves around it.
  const std::string request = post(numbered_document(7));
  Clients busy = connect_clients(server_.port(), 4);
  for (const auto& client : busy) ASSERT_TRUE(client->send(std::string_view(request).substr(0, 2000)));
  const Clients idle = connect_clients(server_.port(), 36);
  EXPECT_EQ(answered_count(idle), 36U);
  expect_balance(server_.port(), workers_, 40);
  for (const auto& client : busy) {
    ASSERT_TRUE(client->send(std::string_view(request).substr(2000)));
    EXPECT_EQ(client->receive().content, numbered_document(7));
  }
}

TEST_P(Balance, AfterAWorkerHasBeenReplaced) {
  ASSERT_EQ(::kill(workers_.front(), SIGKILL), 0);
  workers_ = wait_for_workers(server_.pid(), workers_.size(), {workers_.front()});
  const Clients clients = connect_clients(server_.port(), 40);
  EXPECT_EQ(answered_count(clients), 40U);
  expect_balance(server_.port(), workers_, 40);
}

TEST_P(Balance, AfterARollingRestart) {
  const Clients clients = connect_clients(server_.port(), 40);
  EXPECT_EQ(answered_count(clients), 40U);
  server_.process().send_signal(SIGHUP);
  workers_ = wait_for_workers(server_.pid(), workers_.size(), workers_);
  EXPECT_EQ(answered_count(clients), 40U) << "the same connections as before";
  expect_balance(server_.port(), workers_, 40);
}

INSTANTIATE_TEST_SUITE_P(Over, Balance, testing::Values(2, 4),
                         [](const auto& count) { return std::to_string(count.param) + "Workers"; });

// A connection that changes hands keeps what it was promised: a new one has the head's time to begin a
// request, one between two requests the idle time.
TEST(HandOver, KeepsTheIdleTimeOut) {
  const Server server({"--workers", "2", "--head-timeout", "300ms", "--idle-timeout", "60s"});
  const std::vector<pid_t> workers = workers_of(server.pid());
  const Clients clients = connect_clients(server.port(), 20);
  ASSERT_EQ(answered_count(clients), 20U);
  expect_balance(server.port(), workers, 20);
  // One worker's clients leave, and half of the other's come in their place.
  const auto owners = owners_of(server.port(), workers);
  std::vector<Client*> staying;
  for (const auto& client : clients) {
    if (owners.at(local_port(*client)) == workers.front()) {
      client->reset();
    } else {
      staying.push_back(client.get());
    }
  }
  ASSERT_EQ(staying.size(), 10U);
  for (Client* const client : staying) EXPECT_EQ(client->ask(kGet).content, kHello);
  expect_balance(server.port(), workers, 10);
  std::this_thread::sleep_for(Milliseconds{800});
  for (Client* const client : staying) EXPECT_EQ(client->ask(kGet).content, kHello);
}

TEST(HandOver, KeepsTheTimeToBeginARequest) {
  const Server server({"--workers", "2", "--head-timeout", "300ms", "--idle-timeout", "60s"});
  const Clients clients = connect_clients(server.port(), 20);
  for (const auto& client : clients) EXPECT_EQ(client->wait_for_end(), End::finished);
}

}  // namespace
}  // namespace rest_echo::e2e
