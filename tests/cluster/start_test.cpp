// How many workers there are, where they run, and what they say when they start.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <csignal>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "cluster/workers.hpp"
#include "e2e/requests.hpp"
#include "rest_echo/cluster/cpu_budget.hpp"

namespace rest_echo::e2e {
namespace {

// Workers that serve: the processes forked, or 1 for a server that forks none.
std::size_t serving_count(const Server& server) {
  return std::max<std::size_t>(1, workers_of(server.pid()).size());
}

std::string allowed_cpu_list(pid_t pid) {
  for (const std::string& line : lines_of(read_file("/proc/" + std::to_string(pid) + "/status"))) {
    constexpr std::string_view kName = "Cpus_allowed_list:\t";
    if (line.starts_with(kName)) return line.substr(kName.size());
  }
  return "";
}

TEST(Workers, SayWhoTheyAreInOrder) {
  Server server({"--workers", "3"});
  const std::vector<pid_t> workers = workers_of(server.pid());
  ASSERT_EQ(workers.size(), 3U);
  std::multiset<std::string> started;
  for (const pid_t worker : workers) started.insert("Worker " + std::to_string(worker) + " started");
  const std::vector<std::string> lines = lines_of(server.process().output());
  ASSERT_EQ(lines.size(), 6U) << server.process().output();
  EXPECT_NE(lines[0].find("3 workers ("), std::string::npos) << lines[0];
  EXPECT_EQ(lines[1], "Parent " + std::to_string(server.pid()) + " is running");
  EXPECT_EQ((std::multiset<std::string>{lines[2], lines[3], lines[4]}), started);
  EXPECT_EQ(lines[5], "Listening on port " + std::to_string(server.port()));
  EXPECT_EQ(server.process().errors(), "");
}

TEST(Workers, AllAcceptByTheTimeThatIsSaid) {
  const Server server({"--workers", "4"});
  const Clients clients = connect_clients(server.port(), 40);
  EXPECT_EQ(answered_count(clients), 40U);
}

TEST(Workers, ShareOnePortThatTheKernelPicks) {
  const Server server({"--workers", "4"});
  EXPECT_NE(server.port(), 0);
  const std::vector<pid_t> workers = workers_of(server.pid());
  const Clients clients = connect_clients(server.port(), 40);
  EXPECT_TRUE(eventually([&] {
    return std::ranges::all_of(connection_counts(server.port(), workers),
                               [](auto count) { return count > 0; });
  })) << "each of them serves";
}

TEST(Workers, ServeBothIpVersions) {
  const Server server({"--workers", "2"});
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(Client(server.port()).ask(kGet).content, kHello);
    EXPECT_EQ(Client(server.port(), {.host = "::1"}).ask(kGet).content, kHello);
  }
}

TEST(Workers, ShareEachOfSeveralHosts) {
  const Server server({"--workers", "2", "--host", "127.0.0.2", "--host", "127.0.0.3"});
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(Client(server.port(), {.host = "127.0.0.2"}).ask(kGet).content, kHello);
    EXPECT_EQ(Client(server.port(), {.host = "127.0.0.3"}).ask(kGet).content, kHello);
  }
}

TEST(Workers, LeaveTheServingToThem) {
  Server server({"--workers", "2"});
  const Clients clients = connect_clients(server.port(), 20);
  EXPECT_EQ(answered_count(clients), 20U);
  EXPECT_TRUE(owners_of(server.port(), {server.pid()}).empty()) << "the parent serves nothing";
}

// C18. What the environment asks for, and how many there come to be.
TEST(Workers, AreAsManyAsAskedFor) {
  const std::size_t usable = cluster::read_cpu_budget().usable_count();
  struct Row {
    std::string name;
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
    std::size_t count;
  };
  for (const Row& row : {
           Row{"by default", {}, {}, 1},
           Row{"CLUSTER=1", {}, {"CLUSTER=1"}, usable},
           Row{"CLUSTER=true", {}, {"CLUSTER=true"}, usable},
           Row{"CLUSTER=0", {}, {"CLUSTER=0"}, 1},
           Row{"CLUSTER empty", {}, {"CLUSTER="}, 1},
           Row{"--workers auto", {"--workers", "auto"}, {}, usable},
           Row{"--workers=1", {"--workers=1"}, {}, 1},
           Row{"-w 3", {"-w", "3"}, {}, 3},
           Row{"REST_ECHO_WORKERS=3", {}, {"REST_ECHO_WORKERS=3"}, 3},
           Row{"REST_ECHO_WORKERS=auto", {}, {"REST_ECHO_WORKERS=auto"}, usable},
           Row{"REST_ECHO_WORKERS empty", {}, {"REST_ECHO_WORKERS="}, 1},
           Row{"the flag before CLUSTER", {"--workers", "3"}, {"CLUSTER=1"}, 3},
           Row{"the flag before CLUSTER, one", {"--workers", "1"}, {"CLUSTER=1"}, 1},
           Row{"the flag before REST_ECHO_WORKERS", {"--workers", "3"}, {"REST_ECHO_WORKERS=2"}, 3},
           Row{"REST_ECHO_WORKERS before CLUSTER", {}, {"CLUSTER=1", "REST_ECHO_WORKERS=3"}, 3},
           Row{"the last flag", {"--workers", "2", "--workers", "3"}, {}, 3},
       }) {
    Server server(row.arguments, {.environment = row.environment});
    EXPECT_EQ(serving_count(server), row.count) << row.name;
    const std::string banner = lines_of(server.process().output()).front();
    std::string said = std::to_string(row.count);
    said.append(row.count == 1 ? " worker (" : " workers (");
    EXPECT_NE(banner.find(said), std::string::npos) << row.name << ": " << banner;
    EXPECT_EQ(count_of(server.process().output(), "Parent "), row.count == 1 ? 0U : 1U) << row.name;
    EXPECT_EQ(count_of(server.process().output(), "Listening on port "), 1U) << row.name;
    EXPECT_EQ(Client(server.port()).ask(kGet).content, kHello) << row.name;
    EXPECT_EQ(server.stop(), 0) << row.name;
  }
}

TEST(Workers, AreRefusedInImpossibleNumbers) {
  for (const std::string number : {"0", "-1", "1025", "two", "2x", "", " ", "1.5", "99999999999999999999"}) {
    const Finished finished = run_server({"--port", "0", std::string("--workers=").append(number)});
    EXPECT_EQ(finished.status, 2) << number;
    EXPECT_EQ(lines_of(finished.errors).size(), 1U) << finished.errors;
    EXPECT_NE(finished.errors.find("workers"), std::string::npos) << finished.errors;
  }
}

TEST(Workers, SayWhyThereAreThatMany) {
  Server server({"--workers", "auto"});
  const std::string banner = lines_of(server.process().output()).front();
  EXPECT_NE(banner.find(cluster::read_cpu_budget().describe() + ")"), std::string::npos) << banner;
}

// C18: one CPU by affinity is one worker, however many the machine has.
TEST(Workers, FollowTheAffinityMask) {
  if (!has_program("taskset")) GTEST_SKIP() << "no taskset here";
  const std::string cpu = std::to_string(cluster::allowed_cpus().back());
  Server server({}, {.command = {"taskset", "--cpu-list", cpu}, .environment = {"CLUSTER=1"}});
  EXPECT_EQ(serving_count(server), 1U);
  const std::string banner = lines_of(server.process().output()).front();
  EXPECT_NE(banner.find("1 worker ("), std::string::npos) << banner;
  EXPECT_NE(banner.find("1 CPU allowed)"), std::string::npos) << banner;
  EXPECT_EQ(count_of(server.process().output(), "Parent"), 0U);
  EXPECT_EQ(Client(server.port()).ask(kGet).content, kHello);
}

TEST(Workers, RunWhereTheyAreAllowedUnlessPinned) {
  const Server server({"--workers", "2"});
  for (const pid_t worker : workers_of(server.pid())) {
    EXPECT_EQ(allowed_cpu_list(worker), allowed_cpu_list(server.pid()));
  }
}

TEST(Workers, ArePinnedToOneCpuEachInTurn) {
  const std::vector<int> cpus = cluster::allowed_cpus();
  const std::size_t count = cpus.size() + 1;  // the last one shares the first CPU
  Server server({"--pin", "--workers", std::to_string(count)});
  const auto pinned = [&] {
    std::multiset<std::string> lists;
    for (const pid_t worker : workers_of(server.pid())) lists.insert(allowed_cpu_list(worker));
    return lists;
  };
  std::multiset<std::string> expected;
  for (std::size_t i = 0; i < count; ++i) expected.insert(std::to_string(cpus[i % cpus.size()]));
  EXPECT_EQ(pinned(), expected);
  EXPECT_EQ(allowed_cpu_list(server.pid()), allowed_cpu_list(::getpid())) << "the parent is not";

  const std::vector<pid_t> before = workers_of(server.pid());
  server.process().send_signal(SIGHUP);
  (void)wait_for_workers(server.pid(), count, before);
  EXPECT_EQ(pinned(), expected) << "their replacements go to the same places";
}

TEST(Workers, ArePinnedWithinTheAffinityMask) {
  if (!has_program("taskset")) GTEST_SKIP() << "no taskset here";
  const std::string cpu = std::to_string(cluster::allowed_cpus().back());
  const Server server({"--pin", "--workers", "2"}, {.command = {"taskset", "--cpu-list", cpu}});
  for (const pid_t worker : workers_of(server.pid())) EXPECT_EQ(allowed_cpu_list(worker), cpu);
}

// C19: a port in use is refused in every combination.

/// A socket that listens on a port of its own.
struct Stranger {
  explicit Stranger(bool shares_port) : fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    if (shares_port) ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    socklen_t size = sizeof address;
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        ::listen(fd.get(), 8) != 0 ||
        ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("no port for a stranger");
    }
    port = ntohs(address.sin6_port);
  }
  net::UniqueFd fd;
  std::uint16_t port = 0;
};

void expect_refusal(std::uint16_t port, const std::string& worker_count) {
  const std::string text = std::to_string(port);
  const Finished finished = run_server({"--port", text, "--workers", worker_count});
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(lines_of(finished.errors).size(), 1U) << finished.errors;
  EXPECT_NE(finished.errors.find(":" + text), std::string::npos) << finished.errors;
  EXPECT_NE(finished.errors.find("ddress already in use"), std::string::npos) << finished.errors;
  EXPECT_EQ(finished.output.find("Parent"), std::string::npos) << finished.output;
  EXPECT_EQ(finished.output.find("Listening"), std::string::npos) << finished.output;
}

TEST(WorkersPort, IsNotSharedWithAnotherInstance) {
  for (const std::string first : {"1", "2"}) {
    const Server server({"--workers", first});
    for (const std::string second : {"1", "2"}) expect_refusal(server.port(), second);
    const Clients clients = connect_clients(server.port(), 10);
    EXPECT_EQ(answered_count(clients), 10U) << "the first one goes on";
  }
}

TEST(WorkersPort, IsNotSharedWithAStranger) {
  for (const bool shares_port : {false, true}) {
    const Stranger stranger(shares_port);
    expect_refusal(stranger.port, "2");
  }
}

TEST(WorkersPort, IsFreeForTheNextAtOnce) {
  std::uint16_t port = 0;
  {
    Server server({"--workers", "2"});
    port = server.port();
    const Clients clients = connect_clients(port, 10);
    EXPECT_EQ(answered_count(clients), 10U);
    EXPECT_EQ(server.stop(), 0);  // its side closes first and stays in TIME-WAIT
  }
  Process again({.command = {server_program(), "--workers", "2", "--port", std::to_string(port)}});
  EXPECT_TRUE(eventually([&] { return find_port(again.output()) == port; })) << again.errors();
}

// A container's process 1 gets no default handling of signals, and reaps whatever is left to it (C04).
class ProcessOne : public testing::Test {
 protected:
  void SetUp() override {
    const bool is_permitted =
        has_program("unshare") && run({.command = {"unshare", "--pid", "--fork", "true"}}).status == 0;
    if (!is_permitted) GTEST_SKIP() << "unshare --pid is not permitted here";
  }
};

TEST_F(ProcessOne, EndsWithItsWorkersWhenAsked) {
  for (const int signal : {SIGTERM, SIGINT}) {
    Server server({"--workers", "2", "--grace-period", "60s"}, {.command = {"unshare", "--pid", "--fork"}});
    EXPECT_NE(server.process().output().find("Parent 1 is running"), std::string::npos)
        << server.process().output();
    const std::vector<pid_t> parents = workers_of(server.pid());  // what unshare has forked
    ASSERT_EQ(parents.size(), 1U);
    const std::vector<pid_t> workers = wait_for_workers(parents.front(), 2);
    const Clients idle = connect_clients(server.port(), 5);
    EXPECT_EQ(answered_count(idle), 5U);
    const Client silent(server.port());
    ASSERT_EQ(::kill(parents.front(), signal), 0);
    EXPECT_EQ(server.wait_for_end(), 0) << "long before the grace period is over";
    EXPECT_TRUE(are_all_gone(workers));
  }
}

TEST_F(ProcessOne, ReplacesAWorkerAndReapsIt) {
  Server server({"--workers", "2"}, {.command = {"unshare", "--pid", "--fork"}});
  const std::vector<pid_t> parents = workers_of(server.pid());
  ASSERT_EQ(parents.size(), 1U);
  const std::vector<pid_t> workers = wait_for_workers(parents.front(), 2);
  ASSERT_EQ(::kill(workers.front(), SIGKILL), 0);
  (void)wait_for_workers(parents.front(), 2, {workers.front()});
  EXPECT_EQ(answered_count(connect_clients(server.port(), 10)), 10U);
  ASSERT_EQ(::kill(parents.front(), SIGTERM), 0);
  EXPECT_EQ(server.wait_for_end(), 0);
}

TEST_F(ProcessOne, TakesItsWorkersAlongWhenKilled) {
  Server server({"--workers", "2"}, {.command = {"unshare", "--pid", "--fork"}});
  const std::vector<pid_t> parents = workers_of(server.pid());
  ASSERT_EQ(parents.size(), 1U);
  const std::vector<pid_t> workers = wait_for_workers(parents.front(), 2);
  ASSERT_EQ(::kill(parents.front(), SIGKILL), 0);
  EXPECT_NE(server.wait_for_end(), -1);
  EXPECT_TRUE(eventually([&] { return are_all_gone(workers); }));
  EXPECT_FALSE(can_connect(server.port()));
}

}  // namespace
}  // namespace rest_echo::e2e
