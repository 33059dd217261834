// What remains when a worker or the parent dies (C02).

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cluster/workers.hpp"
#include "e2e/requests.hpp"

namespace rest_echo::e2e {
namespace {

bool is_any_of(pid_t pid, const std::vector<pid_t>& pids) { return std::ranges::count(pids, pid) > 0; }

TEST(WorkerDeath, FailsItsOwnConnectionsAndNoOthers) {
  Server server({"--workers", "2"});
  const std::vector<pid_t> workers = workers_of(server.pid());
  const pid_t victim = workers.front();
  const Clients clients = connect_clients(server.port(), 20);
  ASSERT_EQ(answered_count(clients), 20U);
  ASSERT_TRUE(eventually([&] { return owners_of(server.port(), workers).size() == 20; }));
  stop_process(victim);  // now it neither takes a connection nor gives one away
  const auto owners = owners_of(server.port(), {victim});
  ASSERT_FALSE(owners.empty());
  ASSERT_EQ(::kill(victim, SIGKILL), 0);
  (void)wait_for_workers(server.pid(), 2, {victim});
  std::size_t failed_count = 0;
  for (const auto& client : clients) {
    if (owners.contains(local_port(*client))) {
      EXPECT_NE(client->wait_for_end(), End::goes_on);
      ++failed_count;
    } else {
      EXPECT_EQ(client->ask(kGet).content, kHello);
    }
  }
  EXPECT_EQ(failed_count, owners.size());
}

TEST(WorkerDeath, UnderLoadIsMadeUpFor) {
  if (!has_program("wrk")) GTEST_SKIP() << "no wrk here";
  Server server({"--workers", "2"});
  const std::vector<pid_t> workers = workers_of(server.pid());
  Load load(server, 20, 4);
  ASSERT_TRUE(eventually([&] { return owners_of(server.port(), workers).size() >= 10; }));
  ASSERT_EQ(::kill(workers.front(), SIGKILL), 0);
  for (int i = 0; i < 40; ++i) {
    const std::string document = numbered_document(static_cast<std::size_t>(i));
    EXPECT_EQ(Client(server.port()).ask(post(document)).content, document) << i;
  }
  const std::vector<pid_t> now = wait_for_workers(server.pid(), 2, {workers.front()});
  EXPECT_TRUE(is_any_of(workers.back(), now)) << "the other one goes on";
  const Load::Report report = load.wait_for_end();
  EXPECT_GT(report.request_count, 0U) << report.text;
  EXPECT_FALSE(report.has_other_statuses) << report.text;
  const std::string line = "worker " + std::to_string(workers.front()) +
                           " was killed by signal 9 (Killed); another starts in 100 ms";
  EXPECT_NE(server.process().errors().find(line), std::string::npos) << server.process().errors();
  EXPECT_EQ(lines_of(server.process().errors()).size(), 1U) << server.process().errors();
  EXPECT_EQ(count_of(server.process().output(), " started\n"), 3U);
  EXPECT_EQ(count_of(server.process().output(), "Listening on port"), 1U);
}

// A worker that has come to a halt leaves its queues as they are: the kernel's, of connections nobody has
// accepted, and ours, of connections that others have handed over. Both outlive it.
TEST(WorkerDeath, LosesNoConnectionThatWaitedForIt) {
  Server server({"--workers", "2"});
  const std::vector<pid_t> workers = workers_of(server.pid());
  stop_process(workers.front());
  const Clients clients = connect_clients(server.port(), 40);
  for (const auto& client : clients) ASSERT_TRUE(client->send(kGet));
  // The kernel has given some to the one that is halted, and the other shares what it got.
  EXPECT_TRUE(eventually([&] { return owners_of(server.port(), {workers.back()}).size() < 40; }));
  std::this_thread::sleep_for(Milliseconds{50});
  ASSERT_EQ(::kill(workers.front(), SIGKILL), 0);
  for (const auto& client : clients) EXPECT_EQ(client->receive().content, kHello);
  EXPECT_EQ(answered_count(clients), 40U);
}

TEST(WorkerDeath, OfAllAtOnceLosesNoConnectionThatWaited) {
  Server server({"--workers", "3"});
  const std::vector<pid_t> workers = workers_of(server.pid());
  for (const pid_t worker : workers) stop_process(worker);
  const Clients clients = connect_clients(server.port(), 40);
  for (const auto& client : clients) ASSERT_TRUE(client->send(kGet));
  for (const pid_t worker : workers) ASSERT_EQ(::kill(worker, SIGKILL), 0);
  for (const auto& client : clients) EXPECT_EQ(client->receive().content, kHello);
  (void)wait_for_workers(server.pid(), 3, workers);
}

TEST(WorkerDeath, AgainAndAgainIsMadeUpForMoreAndMoreSlowly) {
  Server server({"--workers", "2"});
  std::vector<pid_t> workers = workers_of(server.pid());
  const pid_t survivor = workers.back();
  std::vector<pid_t> gone;
  pid_t victim = workers.front();
  for (const int delay_ms : {100, 200, 400, 800}) {
    const Clock::time_point killed = Clock::now();
    ASSERT_EQ(::kill(victim, SIGKILL), 0);
    gone.push_back(victim);
    workers = wait_for_workers(server.pid(), 2, gone);
    ASSERT_EQ(workers.size(), 2U);
    EXPECT_GE(elapsed_since(killed), Milliseconds{delay_ms - 5});
    const std::string line = "worker " + std::to_string(victim) +
                             " was killed by signal 9 (Killed); another starts in " +
                             std::to_string(delay_ms) + " ms";
    EXPECT_NE(server.process().errors().find(line), std::string::npos) << server.process().errors();
    ASSERT_TRUE(is_any_of(survivor, workers));
    victim = workers.front() == survivor ? workers.back() : workers.front();
  }
  EXPECT_EQ(count_of(server.process().output(), " started\n"), 6U) << "one for each that died, no storm";
  EXPECT_EQ(lines_of(server.process().errors()).size(), 4U) << server.process().errors();
  EXPECT_EQ(answered_count(connect_clients(server.port(), 20)), 20U);
}

TEST(WorkerDeath, WaitsNoLongerThanFiveSeconds) {
  Server server({"--workers", "2"});
  const std::vector<pid_t> workers = workers_of(server.pid());
  const pid_t survivor = workers.back();
  // Whoever appears beside the survivor dies at once.
  EXPECT_TRUE(eventually(
      [&] {
        for (const pid_t worker : workers_of(server.pid())) {
          if (worker != survivor) ::kill(worker, SIGKILL);
        }
        return count_of(server.process().errors(), "another starts in 5000 ms") >= 1;
      },
      2 * kPatience))
      << server.process().errors();
  const std::string errors = server.process().errors();
  EXPECT_LE(lines_of(errors).size(), 8U) << errors;
  EXPECT_EQ(errors.find("in 6400 ms"), std::string::npos) << errors;
  EXPECT_EQ(server.stop(), 0) << "which does not wait for the next one";
}

// Whatever ends it: the line says what.
TEST(WorkerDeath, IsNamed) {
  struct Row {
    int signal;
    std::string what;
  };
  for (const Row& row :
       {Row{SIGTERM, "ended with status 0"}, Row{SIGABRT, "was killed by signal 6 (Aborted)"},
        Row{SIGQUIT, "was killed by signal 3 (Quit)"}}) {
    Server server({"--workers", "2"}, {.command = {"sh", "-c", "ulimit -c 0; exec \"$@\"", "sh"}});
    const std::vector<pid_t> workers = workers_of(server.pid());
    ASSERT_EQ(::kill(workers.front(), row.signal), 0);
    (void)wait_for_workers(server.pid(), 2, {workers.front()});
    const std::string line =
        "worker " + std::to_string(workers.front()) + " " + row.what + "; another starts in";
    EXPECT_NE(server.process().errors().find(line), std::string::npos) << server.process().errors();
    EXPECT_EQ(answered_count(connect_clients(server.port(), 20)), 20U);
  }
}

// Some supervisors let their children inherit that the end of a process is ignored.
TEST(WorkerDeath, IsNoticedWhereItIsIgnoredByDefault) {
  if (run({.command = {"env", "--ignore-signal=CHLD", "true"}}).status != 0) GTEST_SKIP() << "env is too old";
  Server server({"--workers", "2"}, {.command = {"env", "--ignore-signal=CHLD"}});
  const std::vector<pid_t> workers = workers_of(server.pid());
  ASSERT_EQ(workers.size(), 2U);
  ASSERT_EQ(::kill(workers.front(), SIGKILL), 0);
  (void)wait_for_workers(server.pid(), 2, {workers.front()});
  EXPECT_EQ(server.stop(), 0);
}

// Workers that are to be taken over from and cannot hand their connections over leave nothing behind that
// others would hand connections to.
TEST(WorkerDeath, DuringARestartLosesNothingElse) {
  Server server({"--workers", "2"});
  const std::vector<pid_t> workers = workers_of(server.pid());
  for (const pid_t worker : workers) stop_process(worker);
  server.process().send_signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return workers_of(server.pid()).size() == 4; }));
  for (const pid_t worker : workers) ASSERT_EQ(::kill(worker, SIGKILL), 0);
  const std::vector<pid_t> now = wait_for_workers(server.pid(), 2, workers);
  const Clients clients = connect_clients(server.port(), 40);
  EXPECT_EQ(answered_count(clients), 40U);
  EXPECT_TRUE(eventually([&] { return owners_of(server.port(), now).size() == 40; }));
  EXPECT_EQ(answered_count(clients), 40U);
}

TEST(WorkerDeath, DuringARestartLosesNoConnectionHandedOverBefore) {
  Server server({"--workers", "2"});
  const std::vector<pid_t> workers = workers_of(server.pid());
  stop_process(workers.front());
  // The other one hands over to it all the same.
  const Clients clients = connect_clients(server.port(), 40);
  for (const auto& client : clients) ASSERT_TRUE(client->send(kGet));
  std::size_t owned_count = 40;
  ASSERT_TRUE(eventually([&] {
    return std::exchange(owned_count, owners_of(server.port(), {workers.back()}).size()) == owned_count &&
           owned_count < 40;
  }));
  server.process().send_signal(SIGHUP);
  ASSERT_TRUE(eventually([&] {
    const std::vector<pid_t> now = workers_of(server.pid());
    return now.size() == 3 && !is_any_of(workers.back(), now);
  }));
  ASSERT_EQ(::kill(workers.front(), SIGKILL), 0);
  for (const auto& client : clients) EXPECT_EQ(client->receive().content, kHello);
  EXPECT_EQ(answered_count(clients), 40U);
}

TEST(ParentDeath, TakesTheWorkersAlong) {
  Server server({"--workers", "3"});
  const std::uint16_t port = server.port();
  const std::vector<pid_t> workers = workers_of(server.pid());
  const Clients clients = connect_clients(port, 20);
  EXPECT_EQ(answered_count(clients), 20U);
  server.process().send_signal(SIGKILL);
  EXPECT_EQ(server.wait_for_end(), 128 + SIGKILL);
  EXPECT_TRUE(eventually([&] { return are_all_gone(workers); }));
  for (const auto& client : clients) EXPECT_NE(client->wait_for_end(), End::goes_on);
  Process again({.command = {server_program(), "--workers", "2", "--port", std::to_string(port)}});
  EXPECT_TRUE(eventually([&] { return find_port(again.output()) == port; })) << again.errors();
}

TEST(ParentDeath, UnderLoadTakesTheWorkersAlong) {
  if (!has_program("wrk")) GTEST_SKIP() << "no wrk here";
  Server server({"--workers", "2"});
  const std::vector<pid_t> workers = workers_of(server.pid());
  Load load(server, 20, 8);
  ASSERT_TRUE(eventually([&] { return owners_of(server.port(), workers).size() >= 10; }));
  server.process().send_signal(SIGKILL);
  EXPECT_EQ(server.wait_for_end(), 128 + SIGKILL);
  EXPECT_TRUE(eventually([&] { return are_all_gone(workers); }));
  EXPECT_FALSE(can_connect(server.port()));
  (void)load.wait_for_end();
}

TEST(ParentDeath, LetsARequestThatHasBegunBeAnswered) {
  Server server({"--workers", "2"});
  const std::vector<pid_t> workers = workers_of(server.pid());
  const std::string request = post(numbered_document(1));
  const Clients clients = connect_clients(server.port(), 10);
  for (const auto& client : clients) ASSERT_TRUE(client->send(std::string_view(request).substr(0, 2000)));
  ASSERT_TRUE(eventually([&] { return owners_of(server.port(), workers).size() == 10; }));
  server.process().send_signal(SIGKILL);
  ASSERT_EQ(server.wait_for_end(), 128 + SIGKILL);
  for (const auto& client : clients) {
    ASSERT_TRUE(client->send(std::string_view(request).substr(2000)));
    const Response response = client->receive();
    EXPECT_EQ(response.content, numbered_document(1));
    EXPECT_TRUE(response.says_close());
  }
  EXPECT_TRUE(eventually([&] { return are_all_gone(workers); }));
}

}  // namespace
}  // namespace rest_echo::e2e
