// SIGHUP replaces one worker after another, and no client notices.

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "cluster/workers.hpp"
#include "e2e/requests.hpp"

namespace rest_echo::e2e {
namespace {

// How many of them were not there before.
std::size_t new_count(const std::vector<pid_t>& now, const std::vector<pid_t>& before) {
  return static_cast<std::size_t>(
      std::ranges::count_if(now, [&](pid_t pid) { return std::ranges::count(before, pid) == 0; }));
}

class RollingRestart : public testing::TestWithParam<std::size_t> {
 protected:
  void restart() {
    server_.process().send_signal(SIGHUP);
    workers_ = wait_for_workers(server_.pid(), GetParam(), workers_);
  }

  Server server_{{"--workers", std::to_string(GetParam())}};
  std::vector<pid_t> workers_ = workers_of(server_.pid());
};

TEST_P(RollingRestart, LosesNoRequestUnderLoad) {
  if (!has_program("wrk")) GTEST_SKIP() << "no wrk here";
  Load load(server_, 20, 5);
  ASSERT_TRUE(eventually([&] { return owners_of(server_.port(), workers_).size() >= 10; }));
  for (int i = 0; i < 3; ++i) {
    restart();
    std::this_thread::sleep_for(Milliseconds{200});
  }
  const Load::Report report = load.wait_for_end();
  EXPECT_TRUE(report.has_ended_well);
  EXPECT_GT(report.request_count, 0U);
  EXPECT_FALSE(report.has_socket_errors) << report.text;
  EXPECT_FALSE(report.has_other_statuses) << report.text;
  EXPECT_EQ(server_.process().errors(), "");
  EXPECT_EQ(count_of(server_.process().output(), " started\n"), 4 * GetParam());
  EXPECT_EQ(count_of(server_.process().output(), "Listening on port"), 1U);
}

TEST_P(RollingRestart, RefusesNoConnectionUnderLoad) {
  if (!has_program("wrk")) GTEST_SKIP() << "no wrk here";
  // Each request on a connection of its own.
  Load load(server_, 10, 4, {"--header", "Connection: close"});
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(Milliseconds{500});
    restart();
  }
  const Load::Report report = load.wait_for_end();
  EXPECT_TRUE(report.has_ended_well);
  EXPECT_GT(report.request_count, 0U);
  EXPECT_FALSE(report.has_socket_errors) << report.text;
  EXPECT_FALSE(report.has_other_statuses) << report.text;
}

TEST_P(RollingRestart, KeepsIdleConnections) {
  const Clients clients = connect_clients(server_.port(), 20);
  ASSERT_EQ(answered_count(clients), 20U);
  const Clients silent = connect_clients(server_.port(), 5);
  for (int i = 0; i < 2; ++i) {
    restart();
    EXPECT_EQ(answered_count(clients), 20U);
  }
  EXPECT_EQ(answered_count(silent), 5U);
  EXPECT_TRUE(eventually([&] { return owners_of(server_.port(), workers_).size() == 25; }));
}

TEST_P(RollingRestart, AnswersAnUploadThatGoesOnMeanwhile) {
  const std::string document = numbered_document(1, 100'000);
  const std::string request = post(document);
  const Clients uploads = connect_clients(server_.port(), 6);
  const std::size_t piece = request.size() / 3;
  for (const auto& client : uploads) ASSERT_TRUE(client->send(std::string_view(request).substr(0, piece)));
  ASSERT_TRUE(eventually([&] { return owners_of(server_.port(), workers_).size() == 6; }));
  const std::vector<pid_t> before = workers_;
  server_.process().send_signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return new_count(workers_of(server_.pid()), before) == GetParam(); }));
  for (const auto& client : uploads)
    ASSERT_TRUE(client->send(std::string_view(request).substr(piece, piece)));
  EXPECT_EQ(answered_count(connect_clients(server_.port(), 10)), 10U) << "others are served meanwhile";
  for (const auto& client : uploads) {
    ASSERT_TRUE(client->send(std::string_view(request).substr(2 * piece)));
    const Response response = client->receive();
    EXPECT_EQ(response.content, document);
    EXPECT_FALSE(response.says_close());
  }
  workers_ = wait_for_workers(server_.pid(), GetParam(), before);
  EXPECT_EQ(answered_count(uploads), 6U) << "on the same connections, elsewhere";
}

TEST_P(RollingRestart, WaitsForASlowReader) {
  // An answer larger than what the kernel holds for both sides.
  const std::string document = empty_colors(900'000);
  Client reader(server_.port(), {.receive_buffer_size = 4096});
  ASSERT_TRUE(reader.send(post(document)));
  ASSERT_TRUE(reader.has_received_within(kPatience));
  const std::vector<pid_t> before = workers_;
  server_.process().send_signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return new_count(workers_of(server_.pid()), before) == GetParam(); }));
  EXPECT_EQ(reader.receive().status, 200);
  workers_ = wait_for_workers(server_.pid(), GetParam(), before);
  EXPECT_EQ(reader.ask(kGet).content, kHello);
}

TEST_P(RollingRestart, AskedForSeveralTimesAtOnce) {
  const Clients clients = connect_clients(server_.port(), 20);
  ASSERT_EQ(answered_count(clients), 20U);
  const std::vector<pid_t> before = workers_;
  for (int i = 0; i < 5; ++i) {
    server_.process().send_signal(SIGHUP);
    std::this_thread::sleep_for(Milliseconds{10});
  }
  workers_ = wait_for_workers(server_.pid(), GetParam(), before);
  EXPECT_EQ(answered_count(clients), 20U);
  // The last of the five may be under way still.
  EXPECT_TRUE(eventually([&] {
    workers_ = workers_of(server_.pid());
    return workers_.size() == GetParam() && owners_of(server_.port(), workers_).size() == 20;
  }));
  EXPECT_EQ(server_.process().errors(), "");
  EXPECT_EQ(server_.stop(), 0);
}

TEST_P(RollingRestart, EndsWhenTheServerIsToEnd) {
  const std::string request = post(numbered_document(1));
  const Clients uploads = connect_clients(server_.port(), 6);
  for (const auto& client : uploads) ASSERT_TRUE(client->send(std::string_view(request).substr(0, 2000)));
  ASSERT_TRUE(eventually([&] { return owners_of(server_.port(), workers_).size() == 6; }));
  const std::vector<pid_t> before = workers_;
  server_.process().send_signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return new_count(workers_of(server_.pid()), before) == GetParam(); }));
  const std::vector<pid_t> all = workers_of(server_.pid());
  EXPECT_GT(all.size(), GetParam()) << "with those that have uploads to wait for";
  server_.process().send_signal(SIGTERM);
  ASSERT_TRUE(eventually([&] { return !can_connect(server_.port()); }));
  for (const auto& client : uploads) {
    ASSERT_TRUE(client->send(std::string_view(request).substr(2000)));
    const Response response = client->receive();
    EXPECT_EQ(response.content, numbered_document(1));
    EXPECT_TRUE(response.says_close());
  }
  EXPECT_EQ(server_.wait_for_end(), 0);
  EXPECT_TRUE(are_all_gone(all));
}

INSTANTIATE_TEST_SUITE_P(Of, RollingRestart, testing::Values(2U, 4U),
                         [](const auto& count) { return std::to_string(count.param) + "Workers"; });

TEST(RollingRestart, WaitsForAWorkerThatIsBeingReplaced) {
  Server server({"--workers", "2"});
  const std::vector<pid_t> before = workers_of(server.pid());
  ASSERT_EQ(::kill(before.front(), SIGKILL), 0);
  server.process().send_signal(SIGHUP);
  const std::vector<pid_t> now = wait_for_workers(server.pid(), 2, before);
  EXPECT_EQ(now.size(), 2U);
  EXPECT_EQ(answered_count(connect_clients(server.port(), 20)), 20U);
}

TEST(RollingRestart, KeepsTheIdleTimeOut) {
  Server server({"--workers", "2", "--head-timeout", "300ms", "--idle-timeout", "60s"});
  const std::vector<pid_t> before = workers_of(server.pid());
  const Clients clients = connect_clients(server.port(), 10);
  ASSERT_EQ(answered_count(clients), 10U);
  server.process().send_signal(SIGHUP);
  (void)wait_for_workers(server.pid(), 2, before);
  std::this_thread::sleep_for(Milliseconds{800});
  EXPECT_EQ(answered_count(clients), 10U);
}

}  // namespace
}  // namespace rest_echo::e2e
