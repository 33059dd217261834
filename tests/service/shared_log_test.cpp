// The access log in a pipe that several workers share, whoever reads it or not.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <thread>

#include "e2e/client.hpp"
#include "e2e/requests.hpp"
#include "e2e/server.hpp"
#include "service/log_lines.hpp"
#include "service/piped_server.hpp"
#include "service/sockets.hpp"
#include "service/text.hpp"

namespace rest_echo::e2e {
namespace {

std::string target_of_size(std::size_t size) { return fmt::format("{:x<{}}", "/", size); }

class SharedLog : public testing::TestWithParam<std::string> {};

// Many requests a read, from several connections to several workers, all into one pipe. A round is less than
// the server keeps, so that nothing is lost however slowly this reads.
TEST_P(SharedLog, IsNeverMixedUp) {
  constexpr int kRoundCount = 4;
  constexpr int kClientCount = 6;
  constexpr int kRequestCount = 400;
  constexpr int kPipeSize = 256 * 1024;
  PipedServer server({"--access-log=" + GetParam(), "--workers", "2"}, kPipeSize);
  const auto target = [](int round, int client, int number) {
    return fmt::format("/{}/{}/{}/{:x<{}}", round, client, number, "", number % 200);
  };
  const auto make_load = [&](int round, int number) {
    Client client(server.port());
    for (int first = 0; first < kRequestCount; first += 20) {
      std::string batch;
      for (int i = first; i < first + 20; ++i) batch += get(target(round, number, i));
      if (!client.send(batch)) return;
      for (int i = 0; i < 20; ++i) {
        if (client.receive().status != 200) return;
      }
    }
  };
  std::vector<std::string> expected;
  for (int round = 0; round < kRoundCount; ++round) {
    std::vector<std::thread> threads;
    for (int client = 0; client < kClientCount; ++client) {
      threads.emplace_back(make_load, round, client);
      for (int i = 0; i < kRequestCount; ++i) {
        expected.push_back(fmt::format("GET {} HTTP/1.1", target(round, client, i)));
      }
    }
    EXPECT_TRUE(eventually([&] { return line_count(server.read()) >= expected.size(); }));
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(server.stop(), 0);
  EXPECT_EQ(server.process().errors(), "");
  EXPECT_TRUE(server.read().ends_with('\n'));
  std::vector<std::string> logged;
  for (const std::string& text : split_lines(server.read())) {
    const std::optional<LogLine> line = read_line(text, GetParam());
    ASSERT_TRUE(line.has_value()) << text;
    EXPECT_EQ(line->client, "127.0.0.1");
    EXPECT_EQ(line->status, 200);
    EXPECT_EQ(line->size, kHello.size());
    logged.push_back(line->request);
  }
  std::ranges::sort(expected);
  std::ranges::sort(logged);
  EXPECT_EQ(logged.size(), expected.size());
  EXPECT_TRUE(logged == expected) << "each request once";
}
INSTANTIATE_TEST_SUITE_P(Formats, SharedLog, testing::Values("text", "json"));

class UnreadLog : public testing::TestWithParam<std::string> {
 protected:
  // Three megabytes of log at least, far more than the pipe and the server keep.
  static void ask_for_much(std::uint16_t port) {
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < 4; ++i) clients.push_back(std::make_unique<Client>(port));
    const std::string request = get(target_of_size(451));
    std::string batch;
    for (int i = 0; i < 50; ++i) batch += request;
    for (int round = 0; round < 30; ++round) {
      for (const auto& client : clients) ASSERT_TRUE(client->send(batch));
      for (const auto& client : clients) {
        for (int i = 0; i < 50; ++i) ASSERT_EQ(client->receive().status, 200);
      }
    }
  }
  // What was lost is lost in whole lines.
  static std::size_t count_whole_lines(const std::string& text) {
    const std::vector<std::string> lines = split_lines(text);
    for (const std::string& line : lines) EXPECT_TRUE(read_text_line(line).has_value()) << line;
    return lines.size();
  }
};

TEST_P(UnreadLog, NeverHoldsTheServerUp) {
  PipedServer server({"--access-log", "--workers", GetParam()}, 4096);
  for (int round = 0; round < 2; ++round) ask_for_much(server.port());
  EXPECT_TRUE(contains(server.process().errors(), "access log: ")) << server.process().errors();
  EXPECT_TRUE(contains(server.process().errors(), " octets lost")) << server.process().errors();
  // Once it is read again it goes on.
  const auto is_new_line_there = [&] {
    EXPECT_EQ(Client(server.port()).ask(get("/new")).status, 200);
    return contains(server.read(), "GET /new ");
  };
  EXPECT_TRUE(eventually(is_new_line_there));
  EXPECT_EQ(server.stop(), 0);
  EXPECT_GT(count_whole_lines(server.read()), 1U);
}

// Each time there is room for one piece, only one of the workers can have it; the others must not wait.
TEST_P(UnreadLog, NeverHoldsTheServerUpWhereItIsReadSlowly) {
  PipedServer server({"--access-log", "--workers", GetParam()}, 4096);
  ASSERT_NO_FATAL_FAILURE(ask_for_much(server.port()));
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 8; ++i) clients.push_back(std::make_unique<Client>(server.port()));
  const std::string request = get(target_of_size(451));
  std::string batch;
  for (int i = 0; i < 10; ++i) batch += request;
  for (int round = 0; round < 300; ++round) {
    for (const auto& client : clients) ASSERT_TRUE(client->send(batch));
    server.read(4096);
    for (const auto& client : clients) {
      for (int i = 0; i < 10; ++i) ASSERT_EQ(client->receive(true, Milliseconds{5000}).status, 200) << round;
    }
  }
  EXPECT_EQ(server.stop(), 0);
}

TEST_P(UnreadLog, NeverHoldsTheEndUp) {
  PipedServer server({"--access-log", "--workers", GetParam()}, 4096);
  ask_for_much(server.port());
  server.process().send_signal(SIGTERM);
  EXPECT_EQ(server.process().wait_for_end(), 0);
  count_whole_lines(server.read());
}

TEST_P(UnreadLog, IsNoNeedWhereItsReaderIsGone) {
  PipedServer server({"--access-log", "--workers", GetParam()}, 4096);
  server.close_pipe();
  ask_for_much(server.port());
  EXPECT_EQ(Client(server.port()).ask(kGet).content, kHello);
  server.process().send_signal(SIGTERM);
  EXPECT_EQ(server.process().wait_for_end(), 0);
}

TEST_P(UnreadLog, IsNoNeedWhereTheDeviceIsFull) {
  const std::uint16_t port = find_free_port();
  Process server({.command = {server_program(), "--access-log", "--stats", "--workers", GetParam(), "--port",
                              std::to_string(port)},
                  .output_file = "/dev/full"});
  ASSERT_TRUE(eventually([&] { return can_connect(port); }));
  ask_for_much(port);
  server.send_signal(SIGTERM);
  EXPECT_EQ(server.wait_for_end(), 0);
  EXPECT_TRUE(contains(server.errors(), " 6000 requests ")) << server.errors();
}

// No descriptor of a connection may come to stand for the output, or the log would go to a client.
TEST_P(UnreadLog, NeverGoesToAClientInstead) {
  const std::uint16_t port = find_free_port();
  Process server({.command = {"sh", "-c", R"(exec "$@" <&- >&- 2>&-)", "sh", server_program(), "--access-log",
                              "--stats", "--workers", GetParam(), "--port", std::to_string(port)}});
  ASSERT_TRUE(eventually([&] { return can_connect(port); }));
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 8; ++i) clients.push_back(std::make_unique<Client>(port));
  for (int round = 0; round < 3; ++round) {
    for (const auto& client : clients) EXPECT_EQ(client->ask(kGet).content, kHello);
    server.send_signal(SIGUSR1);
    if (GetParam() != "1") server.send_signal(SIGHUP);  // one worker may take it for the terminal's end
    std::this_thread::sleep_for(Milliseconds{400});
  }
  server.send_signal(SIGTERM);
  EXPECT_EQ(server.wait_for_end(), 0);
  for (const auto& client : clients) {
    EXPECT_EQ(client->wait_for_end(), End::finished);
    EXPECT_EQ(client->received(), "");
  }
}
INSTANTIATE_TEST_SUITE_P(Workers, UnreadLog, testing::Values("1", "2"));

}  // namespace
}  // namespace rest_echo::e2e
