// What connections and bodies cost, and what happens when there is no more.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "e2e/client.hpp"
#include "e2e/requests.hpp"
#include "e2e/server.hpp"

namespace rest_echo::e2e {
namespace {

constexpr std::size_t kKilobyte = 1U << 10;
constexpr std::size_t kMegabyte = 1U << 20;

// Our side of many connections needs descriptors as well.
bool raise_own_descriptor_limit(rlim_t count) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max < count) return false;
  limit.rlim_cur = std::max(limit.rlim_cur, count);
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

std::size_t occurrence_count(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

bool is_served(Client& client) { return client.ask(kGet).content == kHello; }

// C01: without descriptors a level-triggered listener never calms down by itself.
class OutOfDescriptors : public testing::Test {
 protected:
  static constexpr std::size_t kLimit = 64;
  static constexpr std::size_t kClientCount = 140;

  void exhaust(Server& server) {
    while (clients_.size() < kClientCount) clients_.push_back(std::make_unique<Client>(server.port()));
    ASSERT_TRUE(eventually([&] { return descriptor_count(server.pid()) >= kLimit; }));
  }

  std::vector<std::unique_ptr<Client>> clients_;
};

TEST_F(OutOfDescriptors, ServerRestsAndGoesOn) {
  Server server({}, {.descriptor_soft_limit = kLimit, .descriptor_hard_limit = kLimit});
  Client early(server.port());
  EXPECT_TRUE(is_served(early));
  exhaust(server);

  constexpr Milliseconds kWatched{2'000};
  const Milliseconds time_before = processor_time(server.pid());
  const std::string log_before = server.process().errors();
  const Clock::time_point start = Clock::now();
  pause_for(kWatched);
  const Milliseconds time_used = processor_time(server.pid()) - time_before;
  const std::string log = server.process().errors().substr(log_before.size());
  const auto seconds = static_cast<std::size_t>(elapsed_since(start).count() / 1'000 + 1);
  EXPECT_LT(time_used, kWatched / 10);
  EXPECT_LE(occurrence_count(log, "\n"), seconds + 1) << log;
  EXPECT_GE(occurrence_count(log_before + log, "cannot accept"), 1U) << log;

  EXPECT_TRUE(is_served(early));
  EXPECT_TRUE(is_served(*clients_[10]));
  clients_.clear();
  Client late(server.port());
  EXPECT_TRUE(is_served(late));
  EXPECT_TRUE(is_served(early));
}

TEST_F(OutOfDescriptors, WaitingConnectionsGetTheirTurnOneByOne) {
  const Server server({}, {.descriptor_soft_limit = kLimit, .descriptor_hard_limit = kLimit});
  for (std::size_t number = 0; number < kClientCount; ++number) {
    clients_.push_back(std::make_unique<Client>(server.port()));
    clients_.back()->send(kGet);
  }
  for (std::unique_ptr<Client>& client : clients_) {
    EXPECT_EQ(client->receive().content, kHello);
    client.reset();
  }
}

TEST_F(OutOfDescriptors, NobodyToTellIsNoReasonToEnd) {
  Server server(
      {}, {.error_file = "/dev/full", .descriptor_soft_limit = kLimit, .descriptor_hard_limit = kLimit});
  exhaust(server);
  EXPECT_TRUE(is_served(*clients_.front()));
  clients_.clear();
  EXPECT_EQ(server.stop(), 0);
}

TEST_F(OutOfDescriptors, EndsInTime) {
  Server server({}, {.descriptor_soft_limit = kLimit, .descriptor_hard_limit = kLimit});
  exhaust(server);
  const Clock::time_point start = Clock::now();
  EXPECT_EQ(server.stop(), 0);
  EXPECT_LT(elapsed_since(start), Milliseconds{5'000});
}

// Whatever peers leave undone, there is nothing to do until they do it.
TEST(ProcessorTime, PeersThatAreStuckTakeNone) {
  const Server server;
  std::vector<Client> clients;
  const auto connect = [&]() -> Client& {
    return clients.emplace_back(server.port(), ClientOptions{.receive_buffer_size = 4096});
  };
  const std::string large = post(empty_colors(500'000));
  const std::string small = post(numbered_document(1));
  connect();  // silent
  EXPECT_EQ(connect().ask(kGet).status, 200);
  connect().send(std::string_view(small).substr(0, 20));
  connect().send(std::string_view(small).substr(0, small.size() - 1));
  for (const bool is_finished : {false, true}) {
    Client& reads_nothing = connect();
    EXPECT_TRUE(reads_nothing.send(large));
    EXPECT_TRUE(reads_nothing.has_received_within(kPatience));
    reads_nothing.send(small);
    if (is_finished) reads_nothing.finish_sending();
  }
  Client& never_closes = connect();
  never_closes.send("NONSENSE\r\n\r\n");
  EXPECT_EQ(never_closes.receive().status, 400);
  const Milliseconds time_before = processor_time(server.pid());
  pause_for(Milliseconds{1'500});
  EXPECT_LT(processor_time(server.pid()) - time_before, Milliseconds{150});
  Client last(server.port());
  EXPECT_TRUE(is_served(last));
}

class Memory : public testing::Test {
 protected:
  void SetUp() override {
    if (kIsSanitized) GTEST_SKIP() << "memory is measured without sanitizers";
    // What any server needs for its first steps is no matter here.
    Client client(server_.port());
    for (int round = 0; round < 10; ++round) (void)client.ask(post(numbered_document(1, 20'000)));
    size_before_ = resident_size(server_.pid());
  }
  [[nodiscard]] std::size_t growth() const {
    return std::max(resident_size(server_.pid()), size_before_) - size_before_;
  }

  Server server_;
  std::size_t size_before_ = 0;
};

TEST_F(Memory, ServerIsSmall) { EXPECT_LT(resident_size_max(server_.pid()), 8 * kMegabyte); }

TEST_F(Memory, ConnectionsAtRestCostLittle) {
  constexpr std::size_t kCount = 2'000;
  if (!raise_own_descriptor_limit(kCount + 100)) GTEST_SKIP() << "too few descriptors here";
  std::vector<Client> clients;
  clients.reserve(kCount);
  for (std::size_t number = 0; number < kCount; ++number) {
    clients.emplace_back(server_.port());
    ASSERT_EQ(clients.back().ask(post(numbered_document(number))).status, 200);
  }
  EXPECT_LT(growth(), kCount * 256);
  // They are still there, all of them.
  for (Client& client : clients) ASSERT_TRUE(is_served(client));
}

TEST_F(Memory, HalfARequestCostsWhatHasCome) {
  constexpr std::size_t kCount = 500;
  std::vector<Client> clients;
  for (std::size_t number = 0; number < kCount; ++number) {
    clients.emplace_back(server_.port());
    clients.back().send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 1000000\r\n\r\n{");
  }
  Client last(server_.port());
  EXPECT_TRUE(is_served(last));
  EXPECT_LT(growth(), kCount * 8 * kKilobyte);
}

// The worst body for its size: every three octets are a color.
TEST_F(Memory, WorstBodyStaysWithinItsBound) {
  const std::string document = empty_colors(kMegabyte);
  Client client(server_.port());
  for (int round = 0; round < 3; ++round) {
    const Response response = client.ask(post(document));
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.content.size(), empty_colors_answer_size(kMegabyte));
  }
  EXPECT_LT(resident_size_max(server_.pid()), size_before_ + 48 * kMegabyte);
}

TEST_F(Memory, LargeBodiesLeaveNothingBehind) {
  Client client(server_.port());
  for (int round = 0; round < 20; ++round) {
    ASSERT_EQ(client.ask(post(empty_colors(kMegabyte))).status, 200);
    ASSERT_EQ(client.ask(post(numbered_document(1, kMegabyte))).status, 200);
    ASSERT_EQ(client.ask(post_chunked(numbered_document(1, kMegabyte), 100'000)).status, 200);
    ASSERT_EQ(client.ask(post(std::string(kMegabyte, '['))).status, 400);
  }
  EXPECT_TRUE(eventually([&] { return growth() < 2 * kMegabyte; }, Milliseconds{10'000})) << growth();
  EXPECT_TRUE(is_served(client));
}

TEST_F(Memory, ManyLargeBodiesAtOnceLeaveNothingBehind) {
  const std::string request = post(numbered_document(1, 300'000));
  std::vector<Client> clients;
  for (int number = 0; number < 50; ++number) {
    clients.emplace_back(server_.port());
    ASSERT_TRUE(clients.back().send(std::string_view(request).substr(0, request.size() - 1)));
  }
  for (Client& client : clients) {
    client.send("}");
    ASSERT_EQ(client.receive().status, 200);
  }
  clients.clear();
  EXPECT_TRUE(eventually([&] { return growth() < 2 * kMegabyte; }, Milliseconds{10'000})) << growth();
}

}  // namespace
}  // namespace rest_echo::e2e
