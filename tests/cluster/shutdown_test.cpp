// SIGTERM and SIGINT end parent and workers together (C04, C05).

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cluster/workers.hpp"
#include "e2e/requests.hpp"

namespace rest_echo::e2e {
namespace {

struct Ask {
  std::string name;
  int signal;
  bool is_for_group;  // as a terminal does
};

class Shutdown : public testing::TestWithParam<Ask> {
 protected:
  /// A server with this period of grace. In a process group of its own, or we would end with it.
  static std::vector<std::string> arguments(const std::string& grace_period) {
    return {"--workers", "3", "--grace-period", grace_period};
  }
  static Launch launch() { return {.command = {"setsid"}}; }

  static void ask(const Server& server) {
    ASSERT_EQ(::kill(GetParam().is_for_group ? -server.pid() : server.pid(), GetParam().signal), 0);
  }

  void SetUp() override {
    if (!has_program("setsid")) GTEST_SKIP() << "no setsid here";
  }
};

TEST_P(Shutdown, IsImmediateWithoutClients) {
  Server server(arguments("60s"), launch());
  const std::vector<pid_t> workers = workers_of(server.pid());
  ask(server);
  EXPECT_EQ(server.wait_for_end(), 0);
  EXPECT_TRUE(are_all_gone(workers));
  EXPECT_EQ(server.process().errors(), "");
}

TEST_P(Shutdown, ClosesIdleAndSilentConnectionsAtOnce) {
  Server server(arguments("60s"), launch());
  const std::vector<pid_t> workers = workers_of(server.pid());
  const Clients idle = connect_clients(server.port(), 10);
  ASSERT_EQ(answered_count(idle), 10U);
  const Clients silent = connect_clients(server.port(), 10);
  ASSERT_TRUE(eventually([&] { return owners_of(server.port(), workers).size() == 20; }));
  ask(server);
  EXPECT_EQ(server.wait_for_end(), 0);
  EXPECT_TRUE(are_all_gone(workers));
  for (const auto& client : idle) EXPECT_EQ(client->wait_for_end(), End::finished);
  for (const auto& client : silent) EXPECT_EQ(client->wait_for_end(), End::finished);
}

TEST_P(Shutdown, AnswersRequestsThatHaveBegun) {
  Server server(arguments("60s"), launch());
  const std::vector<pid_t> workers = workers_of(server.pid());
  const std::string request = post(numbered_document(1));
  const Clients clients = connect_clients(server.port(), 12);
  for (const auto& client : clients) ASSERT_TRUE(client->send(std::string_view(request).substr(0, 2000)));
  ASSERT_TRUE(eventually([&] { return owners_of(server.port(), workers).size() == 12; }));
  ask(server);
  EXPECT_TRUE(eventually([&] { return !can_connect(server.port()); })) << "nobody new is let in";
  for (const auto& client : clients) {
    ASSERT_TRUE(client->send(std::string_view(request).substr(2000)));
    const Response response = client->receive();
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.content, numbered_document(1));
    EXPECT_TRUE(response.says_close());
    EXPECT_EQ(client->wait_for_end(), End::finished);
  }
  EXPECT_EQ(server.wait_for_end(), 0);
  EXPECT_TRUE(are_all_gone(workers));
}

TEST_P(Shutdown, WaitsNoLongerThanTheGracePeriod) {
  Server server(arguments("500ms"), launch());
  const std::vector<pid_t> workers = workers_of(server.pid());
  const Clients clients = connect_clients(server.port(), 12);
  for (const auto& client : clients) ASSERT_TRUE(client->send("POST / HTTP/1.1\r\nHost: t\r\nContent-L"));
  ASSERT_TRUE(eventually([&] { return owners_of(server.port(), workers).size() == 12; }));
  const Clock::time_point asked = Clock::now();
  ask(server);
  EXPECT_EQ(server.wait_for_end(), 0);
  EXPECT_GE(elapsed_since(asked), Milliseconds{450});
  EXPECT_TRUE(are_all_gone(workers));
}

TEST_P(Shutdown, WaitsForNoWorkerThatHasComeToAHalt) {
  Server server(arguments("300ms"), launch());
  const std::vector<pid_t> workers = workers_of(server.pid());
  stop_process(workers.front());
  ask(server);
  EXPECT_EQ(server.wait_for_end(), 0);
  EXPECT_TRUE(are_all_gone(workers));
}

TEST_P(Shutdown, WaitsForNoReplacement) {
  Server server(arguments("60s"), launch());
  const std::vector<pid_t> workers = workers_of(server.pid());
  ASSERT_EQ(::kill(workers.front(), SIGKILL), 0);
  ASSERT_TRUE(eventually([&] { return !server.process().errors().empty(); }));
  ask(server);
  EXPECT_EQ(server.wait_for_end(), 0);
  EXPECT_TRUE(are_all_gone(workers));
}

TEST_P(Shutdown, IsAbruptWhenAskedForAgain) {
  Server server(arguments("60s"), launch());
  const std::vector<pid_t> workers = workers_of(server.pid());
  const Clients clients = connect_clients(server.port(), 12);
  for (const auto& client : clients) ASSERT_TRUE(client->send("POST / HTTP/1.1\r\n"));
  ASSERT_TRUE(eventually([&] { return owners_of(server.port(), workers).size() == 12; }));
  ask(server);
  ASSERT_TRUE(eventually([&] { return !can_connect(server.port()); }));
  std::this_thread::sleep_for(Milliseconds{600});
  EXPECT_FALSE(server.process().wait_for_end(Milliseconds{0}).has_value())
      << "it has begun requests to wait for";
  ask(server);
  EXPECT_EQ(server.wait_for_end(), 128 + GetParam().signal);
  EXPECT_TRUE(are_all_gone(workers));
}

TEST_P(Shutdown, UnderLoad) {
  if (!has_program("wrk")) GTEST_SKIP() << "no wrk here";
  Server server(arguments("60s"), launch());
  const std::vector<pid_t> workers = workers_of(server.pid());
  Load load(server, 20, 2);
  ASSERT_TRUE(eventually([&] { return owners_of(server.port(), workers).size() >= 10; }));
  ask(server);
  EXPECT_EQ(server.wait_for_end(), 0);
  EXPECT_TRUE(are_all_gone(workers));
  EXPECT_FALSE(load.wait_for_end().has_other_statuses);
}

INSTANTIATE_TEST_SUITE_P(By, Shutdown,
                         testing::Values(Ask{"SigtermToTheParent", SIGTERM, false},
                                         Ask{"SigtermToTheGroup", SIGTERM, true},
                                         Ask{"SigintToTheParent", SIGINT, false},
                                         Ask{"SigintToTheGroup", SIGINT, true}),
                         [](const auto& ask) { return ask.param.name; });

}  // namespace
}  // namespace rest_echo::e2e
