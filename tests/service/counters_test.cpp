// Counters at the end and on SIGUSR1: what they say is exactly what a client has seen.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <thread>

#include "e2e/client.hpp"
#include "e2e/requests.hpp"
#include "e2e/server.hpp"
#include "service/log_lines.hpp"
#include "service/sockets.hpp"
#include "service/text.hpp"

namespace rest_echo::e2e {
namespace {

struct Counts {
  std::uint64_t connections = 0;
  std::uint64_t requests = 0;
  std::uint64_t good = 0;
  std::uint64_t client_faults = 0;
  std::uint64_t server_faults = 0;
  std::uint64_t received = 0;
  std::uint64_t sent = 0;

  bool operator==(const Counts&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Counts& counts) {
  return out << counts.connections << " connections, " << counts.requests << " requests (2xx " << counts.good
             << ", 4xx " << counts.client_faults << ", 5xx " << counts.server_faults << "), "
             << counts.received << " octets received, " << counts.sent << " octets sent";
}

// The whole line, or nothing.
std::optional<Counts> read_counts(const std::string& line) {
  constexpr const char* kText =
      "rest-echo: %lu connections, %lu requests (2xx %lu, 4xx %lu, 5xx %lu), %lu octets received, %lu octets "
      "sent, CPU %n";
  Counts counts;
  int size = 0;
  std::sscanf(line.c_str(), kText, &counts.connections, &counts.requests, &counts.good, &counts.client_faults,
              &counts.server_faults, &counts.received, &counts.sent, &size);
  if (size == 0) return std::nullopt;
  std::string time = line.substr(static_cast<std::size_t>(size));
  std::ranges::replace_if(
      time, [](char octet) { return octet >= '0' && octet <= '9'; }, '0');
  while (contains(time, "00")) time.erase(time.find("00"), 1);
  const bool is_whole =
      time == "0.0 s user, 0.0 s system" || time == "0.0 s in workers, CPU 0.0 s user, 0.0 s system";
  return is_whole ? std::optional(counts) : std::nullopt;
}

/// A client that counts what the server is to count.
class Tally {
 public:
  explicit Tally(std::uint16_t port) : port_(port) {}

  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
  std::unique_ptr<Client> connect() {
    ++counts_.connections;
    return std::make_unique<Client>(port_);
  }
  void send(Client& client, std::string_view octets) {
    EXPECT_TRUE(client.send(octets));
    counts_.received += octets.size();
  }
  int receive(Client& client, bool has_content = true) {
    const Response response = client.receive(has_content);
    EXPECT_NE(response.status, 0);
    counts_.sent += response.head.size() + response.content.size();
    if (response.status < 200) return response.status;
    ++counts_.requests;
    if (response.status < 300) ++counts_.good;
    if (response.status >= 400 && response.status < 500) ++counts_.client_faults;
    if (response.status >= 500) ++counts_.server_faults;
    return response.status;
  }
  int ask(Client& client, std::string_view octets, bool has_content = true) {
    send(client, octets);
    return receive(client, has_content);
  }

 private:
  std::uint16_t port_;
  Counts counts_;
};

class Counters : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static std::vector<Counts> all_counts(const Process& process) {
    std::vector<Counts> all;
    for (const std::string& line : split_lines(process.errors())) {
      const std::optional<Counts> counts = read_counts(line);
      if (counts) all.push_back(*counts);
    }
    return all;
  }
  // A worker publishes its counts behind its answers: asked until they have come, and then they stay.
  static void expect_counts_now(Server& server, const Counts& expected) {
    Counts last;
    const auto are_right = [&] {
      const std::size_t count = all_counts(server.process()).size();
      server.process().send_signal(SIGUSR1);
      EXPECT_TRUE(eventually([&] { return all_counts(server.process()).size() > count; }));
      last = all_counts(server.process()).back();
      return last == expected;
    };
    EXPECT_TRUE(eventually(are_right, Milliseconds{5000})) << last << " instead of " << expected;
  }
  static void expect_counts_at_the_end(Server& server, const Counts& expected) {
    EXPECT_EQ(server.stop(), 0);
    const std::vector<std::string> lines = split_lines(server.process().errors());
    ASSERT_FALSE(lines.empty());
    EXPECT_EQ(read_counts(lines.back()), expected) << lines.back();
  }
};

TEST_P(Counters, AreZeroBeforeAnything) {
  Server server({"--workers", GetParam(), "--stats"});
  expect_counts_now(server, {});
  expect_counts_at_the_end(server, {});
}

TEST_P(Counters, AgreeWithTheClient) {
  Server server({"--workers", GetParam(), "--stats"});
  Tally tally(server.port());
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 12; ++i) clients.push_back(tally.connect());
  for (int round = 0; round < 20; ++round) {
    for (const auto& client : clients) {
      EXPECT_EQ(tally.ask(*client, kGet), 200);
      EXPECT_EQ(tally.ask(*client, post(numbered_document(7, 3000))), 200);
      EXPECT_EQ(tally.ask(*client, post_chunked(numbered_document(7, 300), 11)), 200);
      EXPECT_EQ(tally.ask(*client, kHealthCheck), 200) << "counted, though not logged";
      EXPECT_EQ(tally.ask(*client, "HEAD / HTTP/1.1\r\nHost: test\r\n\r\n", false), 200);
      EXPECT_EQ(tally.ask(*client, "OPTIONS * HTTP/1.1\r\nHost: test\r\n\r\n", false), 204);
      EXPECT_EQ(tally.ask(*client, post("[")), 400);
      EXPECT_EQ(tally.ask(*client, "TRACE / HTTP/1.1\r\nHost: test\r\n\r\n"), 405);
      EXPECT_EQ(tally.ask(*client, "BREW / HTTP/1.1\r\nHost: test\r\n\r\n"), 501);
    }
    if (round % 5 == 0) expect_counts_now(server, tally.counts());
  }
  expect_counts_now(server, tally.counts());
  EXPECT_EQ(tally.counts().requests, 12U * 20U * 9U);
  expect_counts_at_the_end(server, tally.counts());
}

TEST_P(Counters, CountPipelinedRequestsOneByOne) {
  Server server({"--workers", GetParam(), "--stats"});
  Tally tally(server.port());
  const std::unique_ptr<Client> client = tally.connect();
  std::string batch;
  for (int i = 0; i < 2000; ++i) batch += kGet;
  tally.send(*client, batch);
  for (int i = 0; i < 2000; ++i) tally.receive(*client);
  EXPECT_EQ(tally.counts().good, 2000U);
  expect_counts_now(server, tally.counts());
  expect_counts_at_the_end(server, tally.counts());
}

TEST_P(Counters, CountFaultsThatCloseTheConnection) {
  Server server({"--workers", GetParam(), "--stats", "--head-timeout", "100ms"});
  Tally tally(server.port());
  const std::vector<std::pair<std::string, int>> rows{
      {"nonsense\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\n\r\n", 505},
      {"GET / HTTP/1.1\r\n", 408},
      {"POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 99999999\r\n\r\n", 413},
      {"POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\nHost: test\r\nExpect: x\r\nContent-Length: 2\r\n\r\n", 417},
      {get(fmt::format("{:x<20001}", "/")), 414},
      {fmt::format("nonsense\r\n\r\n{:x>5000}", ""), 400},
  };
  for (const auto& [octets, status] : rows) {
    const std::unique_ptr<Client> client = tally.connect();
    EXPECT_EQ(tally.ask(*client, octets), status);
    client->finish_sending();
    EXPECT_EQ(client->wait_for_end(), End::finished);
  }
  EXPECT_EQ(tally.counts().client_faults, 6U);
  EXPECT_EQ(tally.counts().server_faults, 2U);
  expect_counts_now(server, tally.counts());
  expect_counts_at_the_end(server, tally.counts());
}

// 100 Continue is sent, but answers nothing.
TEST_P(Counters, CountContinueInOctetsOnly) {
  Server server({"--workers", GetParam(), "--stats"});
  Tally tally(server.port());
  const std::unique_ptr<Client> client = tally.connect();
  EXPECT_EQ(tally.ask(*client,
                      "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"),
            100);
  EXPECT_EQ(tally.ask(*client, "{}"), 200);
  EXPECT_EQ(tally.counts().requests, 1U);
  expect_counts_now(server, tally.counts());
  expect_counts_at_the_end(server, tally.counts());
}

// Answers that the kernel takes piece by piece.
TEST_P(Counters, CountLargeAnswersOnce) {
  Server server({"--workers", GetParam(), "--stats"});
  Tally tally(server.port());
  const std::unique_ptr<Client> client = tally.connect();
  for (int i = 0; i < 3; ++i) tally.send(*client, post(empty_colors(300'000)));
  std::this_thread::sleep_for(Milliseconds{100});  // its buffers are full meanwhile
  for (int i = 0; i < 3; ++i) EXPECT_EQ(tally.receive(*client), 200);
  EXPECT_GT(tally.counts().sent, 3U * 700'000U);
  expect_counts_now(server, tally.counts());
  expect_counts_at_the_end(server, tally.counts());
}

TEST_P(Counters, CountWhatComesByWayOfAUnixSocket) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("socket");
  Server server({"--workers", GetParam(), "--stats", "--unix", path});
  Counts expected;
  for (int i = 0; i < 5; ++i) {
    ++expected.connections;
    ++expected.requests;
    ++expected.good;
    expected.received += std::string_view("GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").size();
    expected.sent += ask_at_path(path).size();
  }
  expect_counts_now(server, expected);
  expect_counts_at_the_end(server, expected);
}

TEST_P(Counters, AgreeWithH2load) {
  if (!has_program("h2load")) GTEST_SKIP() << "no h2load here";
  Server server({"--workers", GetParam(), "--stats"});
  const Finished loaded = run({.command = {"h2load", "--h1", "-n", "3000", "-c", "8", server.url()}});
  EXPECT_NE(loaded.output.find("3000 succeeded, 0 failed"), std::string::npos) << loaded.output;
  EXPECT_EQ(server.stop(), 0);
  const std::vector<Counts> all = all_counts(server.process());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].connections, 8U);
  EXPECT_EQ(all[0].requests, 3000U);
  EXPECT_EQ(all[0].good, 3000U);
}

TEST_P(Counters, AreToldWhenASecondSignalEndsItAtOnce) {
  Server server({"--workers", GetParam(), "--stats", "--grace-period", "60s"});
  Tally tally(server.port());
  const std::unique_ptr<Client> client = tally.connect();
  EXPECT_EQ(tally.ask(*client, kGet), 200);
  tally.send(*client, "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\n");
  expect_counts_now(server, tally.counts());
  server.process().send_signal(SIGTERM);
  ASSERT_TRUE(eventually([&] { return !can_connect(server.port()); }));
  const auto has_ended = [&server] {
    server.process().send_signal(SIGTERM);
    return server.process().wait_for_end(Milliseconds{200}).has_value();
  };
  EXPECT_TRUE(eventually(has_ended));
  EXPECT_EQ(server.wait_for_end(), 128 + SIGTERM);
  const std::vector<std::string> lines = split_lines(server.process().errors());
  ASSERT_FALSE(lines.empty());
  const std::optional<Counts> counts = read_counts(lines.back());
  ASSERT_TRUE(counts.has_value()) << lines.back();
  EXPECT_EQ(counts->requests, 1U);
  EXPECT_EQ(counts->received, tally.counts().received);
  EXPECT_EQ(counts->sent, tally.counts().sent);
}
INSTANTIATE_TEST_SUITE_P(Workers, Counters, testing::Values("1", "2"));

// What a worker has counted outlives it.
TEST(Counters, GoOnWhereWorkersChange) {
  Server server({"--workers", "2", "--stats"});
  Tally tally(server.port());
  const auto ask_often = [&tally] {
    for (int i = 0; i < 10; ++i) {
      const std::unique_ptr<Client> client = tally.connect();
      EXPECT_EQ(tally.ask(*client, "GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"), 200);
      EXPECT_EQ(client->wait_for_end(), End::finished);
    }
  };
  const auto change_workers = [&server](int signal) {
    const std::vector<pid_t> before = children_of(server.pid());
    signal == SIGHUP ? server.process().send_signal(SIGHUP) : void(::kill(before.front(), signal));
    const auto are_new = [&] {
      const std::vector<pid_t> now = children_of(server.pid());
      const auto is_old = [&](pid_t pid) { return std::ranges::find(before, pid) != before.end(); };
      return now.size() == 2 && std::ranges::count_if(now, is_old) == (signal == SIGHUP ? 0 : 1);
    };
    EXPECT_TRUE(eventually(are_new));
  };
  const auto settle = [&] {
    const auto is_published = [&] {
      server.process().send_signal(SIGUSR1);
      std::this_thread::sleep_for(Milliseconds{20});
      const std::vector<std::string> lines = split_lines(server.process().errors());
      return !lines.empty() && read_counts(lines.back()) == tally.counts();
    };
    EXPECT_TRUE(eventually(is_published, Milliseconds{5000})) << server.process().errors() << tally.counts();
  };
  ask_often();
  settle();
  change_workers(SIGHUP);
  ask_often();
  settle();
  change_workers(SIGKILL);
  ask_often();
  settle();
  change_workers(SIGHUP);
  ask_often();
  EXPECT_EQ(server.stop(), 0);
  const std::vector<std::string> lines = split_lines(server.process().errors());
  EXPECT_EQ(read_counts(lines.back()), tally.counts()) << lines.back();
}

TEST(Counters, AreNotToldUnlessAskedFor) {
  Server server;
  EXPECT_EQ(Client(server.port()).ask(kGet).status, 200);
  EXPECT_EQ(server.stop(), 0);
  EXPECT_EQ(server.process().errors(), "");
}

TEST(Counters, AreAskedForByTheEnvironmentToo) {
  Server server({}, {.environment = {"REST_ECHO_STATS=1"}});
  EXPECT_EQ(Client(server.port()).ask(kGet).status, 200);
  EXPECT_EQ(server.stop(), 0);
  const std::vector<std::string> lines = split_lines(server.process().errors());
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(read_counts(lines[0]).has_value()) << lines[0];
}

}  // namespace
}  // namespace rest_echo::e2e
