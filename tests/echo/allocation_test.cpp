// A warm request allocates nothing, however it comes. A program of its own, as it counts every allocation.

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "echo/rows.hpp"
#include "support/allocation_count.hpp"

namespace rest_echo::echo {
namespace {

/// What is sent again and again on one connection.
struct Load {
  std::string name;
  std::string wire;
  std::size_t request_count;  ///< in `wire`
  test::Cutting cutting;
  json::Mode mode = json::Mode::typed;
};

/// Feeds `wire` in its pieces and takes what is sent away, without keeping any of it.
std::size_t exchange_once(Conversation& conversation, Workspace& workspace, const Load& load) {
  std::size_t answered_count = 0;
  std::size_t offset = 0;
  for (const std::size_t end : load.cutting) {
    while (offset < end) {
      const std::span<char> space = conversation.receive_space(workspace);
      const std::size_t size = std::min(space.size(), end - offset);
      load.wire.copy(space.data(), size, offset);
      offset += size;
      answered_count += conversation.received(size, workspace);
      workspace.out.clear();
      while (conversation.is_stopped()) {
        answered_count += conversation.resume(workspace);
        workspace.out.clear();
      }
    }
  }
  return answered_count;
}

std::string times(int count, const std::string& text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

Load whole(std::string name, std::string wire, std::size_t request_count = 1) {
  const std::size_t size = wire.size();
  return {std::move(name), std::move(wire), request_count, {size}};
}

Load in_pieces(std::string name, std::string wire, std::size_t piece_size, std::size_t request_count = 1) {
  const std::size_t size = wire.size();
  return {std::move(name), std::move(wire), request_count, test::pieces_of(piece_size, size)};
}

TEST(Allocation, NoneForWarmRequests) {
  const std::string document = document_of(4000);
  const std::string with_escapes = R"({"colors":[{"color":"\u00e9\n","code":{"rgba":[1,2,3,4,5,6,7,8]}}]})";
  const std::string in_chunks =
      chunked(chunk(document.substr(0, 7)) + chunk(document.substr(7)) + kLastChunk);
  std::vector<Load> loads = {
      whole("hello", get()),
      whole("echo", post(document)),
      whole("echo with escapes and long lists", post(with_escapes)),
      whole("HEAD", request("HEAD / HTTP/1.1")),
      whole("OPTIONS", request("OPTIONS * HTTP/1.1")),
      whole("health", request("GET /healthz HTTP/1.1")),
      whole("HTTP/1.0 that stays", request("GET / HTTP/1.0", "Connection: keep-alive\r\n")),
      whole("chunked", in_chunks),
      whole("hello, pipelined", times(100, get()), 100),
      whole("echo, pipelined", times(200, post(document)), 200),
      whole("mixed, pipelined", times(50, get() + post(document) + in_chunks), 150),
      in_pieces("hello in pieces", get(), 7),
      in_pieces("hello octet by octet", get(), 1),
      in_pieces("echo in pieces", post(document), 1000),
      in_pieces("echo octet by octet", post(document), 1),
      in_pieces("chunked in pieces", in_chunks, 100),
      in_pieces("pipelined in pieces", times(20, get() + post(document) + in_chunks), 1460, 60),
      whole("64 KiB", post(document_of(64 * 1024))),
      in_pieces("expecting 100",
                request("POST / HTTP/1.1", "Expect: 100-continue\r\nContent-Length: 2\r\n") + "{}",
                request("POST / HTTP/1.1", "Expect: 100-continue\r\nContent-Length: 2\r\n").size()),
  };
  loads.push_back(loads[1]);
  loads.back().name = "generic";
  loads.back().mode = json::Mode::generic;
  for (const Load& load : loads) {
    SCOPED_TRACE(load.name);
    Workspace workspace({}, load.mode);
    Conversation conversation;
    const std::size_t round_count = (1000 + load.request_count - 1) / load.request_count;
    for (std::size_t round = 0; round < 3; ++round) {
      EXPECT_EQ(exchange_once(conversation, workspace, load), load.request_count);
    }
    const std::size_t taken = test::allocation_count().taken;
    std::size_t answered_count = 0;
    for (std::size_t round = 0; round < round_count; ++round) {
      workspace.service.set_time(test::kTime + static_cast<std::time_t>(round / 10));
      answered_count += exchange_once(conversation, workspace, load);
    }
    EXPECT_EQ(test::allocation_count().taken, taken);
    EXPECT_EQ(answered_count, round_count * load.request_count);
    conversation.abandon(workspace);
  }
}

// Fifty connections have half a request at the same time: what they gave back serves the next fifty.
TEST(Allocation, NoneForManyWarmConnections) {
  const std::string wire = post(document_of(4000));
  Workspace workspace({}, json::Mode::typed);
  std::vector<Conversation> conversations(50);
  const auto round = [&] {
    for (const std::size_t begin : {std::size_t{0}, wire.size() / 2}) {
      for (Conversation& conversation : conversations) {
        const std::string_view half =
            std::string_view(wire).substr(begin, begin == 0 ? wire.size() / 2 : wire.npos);
        half.copy(conversation.receive_space(workspace).data(), half.size());
        conversation.received(half.size(), workspace);
        workspace.out.clear();
      }
    }
  };
  round();
  const std::size_t taken = test::allocation_count().taken;
  for (int i = 0; i < 20; ++i) round();
  EXPECT_EQ(test::allocation_count().taken, taken);
}

TEST(Allocation, AtRestALargeRequestHasLeftNothing) {
  Workspace workspace({}, json::Mode::typed);
  Conversation conversation;
  const Load small = in_pieces("", post(document_of(4000)), 1000);
  const Load large = in_pieces("", post(document_of(300'000)), 10'000);
  EXPECT_EQ(exchange_once(conversation, workspace, small), 1U);
  const std::size_t live = test::allocation_count().live;
  EXPECT_EQ(exchange_once(conversation, workspace, large), 1U);
  workspace.release_spare();
  EXPECT_EQ(exchange_once(conversation, workspace, small), 1U);
  EXPECT_EQ(test::allocation_count().live, live);
}

struct Outcome {
  std::string sent;
  bool is_over = false;
  bool has_failed = false;  ///< an allocation
  bool ran_out = false;     ///< and that was the end
};
/// What is sent back for `wire`, where `success_count` allocations of the conversation succeed before one
/// fails.
Outcome converse_short_of_memory(const std::string& wire, Workspace& workspace, std::size_t success_count) {
  Outcome outcome;
  Conversation conversation;
  for (std::size_t offset = 0; offset < wire.size() && !conversation.is_over();) {
    const std::span<char> space = conversation.receive_space(workspace);
    const std::size_t size = std::min(space.size(), wire.size() - offset);
    wire.copy(space.data(), size, offset);
    offset += size;
    test::fail_allocation_after(success_count);
    try {
      conversation.received(size, workspace);
    } catch (const std::bad_alloc&) {
      outcome.ran_out = true;
      conversation.run_out_of_memory(workspace);
    }
    success_count = test::fail_allocation_after(test::kNeverFail);
    outcome.sent += workspace.out.unsent();
    workspace.out.clear();
  }
  outcome.has_failed = success_count == test::kNeverFail;
  outcome.is_over = conversation.is_over();
  conversation.abandon(workspace);
  return outcome;
}

// Whichever allocation fails: what was answered before is whole, the last answer says so unless there was a
// way round, and the workspace is as good as new.
TEST(Allocation, AnyMayFail) {
  const std::string document = document_of(200'000);
  const std::string long_list = R"({"colors":[{"code":{"rgba":[)" + times(5000, "1,") + "1]}}]}";
  const std::string wire =
      get() + post(document) + get() + post(long_list) + chunked(chunk(document) + kLastChunk) + get();
  const std::vector<Answer> due = {kHello, echoed(document), kHello, echoed(long_list), echoed(document),
                                   kHello};
  std::size_t success_count = 0;
  for (;; ++success_count) {
    SCOPED_TRACE(success_count);
    Workspace workspace({}, json::Mode::typed);
    workspace.service.set_time(test::kTime);
    const Outcome outcome = converse_short_of_memory(wire, workspace, success_count);
    if (!outcome.has_failed) break;
    const std::vector<test::Response> responses = read_all(outcome.sent, outcome.is_over);
    ASSERT_FALSE(responses.empty());
    EXPECT_TRUE(outcome.ran_out ? responses.back().status == 503 : responses.size() == due.size());
    for (std::size_t i = 0; i < responses.size(); ++i) {
      EXPECT_TRUE(responses[i].status == 503 || are_due({responses[i]}, {due[i]}))
          << describe({responses[i]});
    }
    EXPECT_EQ(std::ranges::count_if(responses, [](const auto& response) { return response.status == 503; }),
              outcome.ran_out ? 1 : 0);
    EXPECT_EQ(outcome.is_over, outcome.ran_out);
    const Outcome next = converse_short_of_memory(wire, workspace, test::kNeverFail - 1);
    EXPECT_TRUE(are_due(read_all(next.sent, false), due));
  }
  EXPECT_GT(success_count, 5U) << "hardly any allocation was made to fail";
}

}  // namespace
}  // namespace rest_echo::echo
