// How a conversation and its workspace share the work: stopping and going on, octets kept and given back.

#include "rest_echo/echo/conversation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "echo/rows.hpp"

namespace rest_echo::echo {
namespace {

/// Receives as much of `octets` as there is room for and takes it off.
std::size_t receive(Conversation& conversation, Workspace& workspace, std::string_view& octets) {
  const std::span<char> space = conversation.receive_space(workspace);
  const std::size_t size = std::min(space.size(), octets.size());
  std::memcpy(space.data(), octets.data(), size);
  octets.remove_prefix(size);
  return conversation.received(size, workspace);
}

std::string numbered(int number) {
  return R"({"colors":[{"color":")" + std::string(4000, 'n') + std::to_string(number) + R"(","code":{}}]})";
}

TEST(Conversation, StopsWhenEnoughIsUnsentAndGoesOn) {
  Workspace workspace({}, json::Mode::typed);
  workspace.service.set_time(test::kTime);
  constexpr int kCount = 500;
  std::string wire;
  for (int i = 0; i < kCount; ++i) wire += post(numbered(i));

  Conversation conversation;
  std::string sent;
  std::size_t answered_count = 0;
  std::size_t stop_count = 0;
  for (std::string_view rest = wire; !rest.empty();) {
    answered_count += receive(conversation, workspace, rest);
    // The peer reads nothing until the conversation has stopped: out stays within its limit and one answer.
    ASSERT_LE(workspace.out.size(), Workspace::kUnsentSizeMax + 5000);
    while (conversation.is_stopped()) {
      ++stop_count;
      ASSERT_GE(workspace.out.size(), Workspace::kUnsentSizeMax);
      sent += workspace.out.unsent();
      workspace.out.clear();
      answered_count += conversation.resume(workspace);
    }
  }
  sent += workspace.out.unsent();
  workspace.out.clear();
  EXPECT_EQ(answered_count, kCount);
  EXPECT_GE(stop_count, sent.size() / (Workspace::kUnsentSizeMax + 5000));
  const std::vector<test::Response> responses = read_all(sent, false);
  ASSERT_EQ(responses.size(), kCount);
  for (int i = 0; i < kCount; ++i) {
    ASSERT_EQ(responses[static_cast<std::size_t>(i)].content, numbered(i)) << i;
  }
  conversation.abandon(workspace);
}

TEST(Conversation, StopsBetweenSmallRequestsOfOneReceipt) {
  Workspace workspace({}, json::Mode::typed);
  workspace.service.set_time(test::kTime);
  const std::string small = "A / HTTP/1.1\r\nHost:h\r\n\r\n";  // its answer is ten times as long
  std::string wire;
  std::vector<Answer> due;
  for (; wire.size() + 2 * small.size() < Workspace::kReceiveSize; due.push_back(501)) wire += small;
  wire += "POST / HT";

  Conversation conversation;
  std::string_view rest = wire;
  std::size_t answered_count = receive(conversation, workspace, rest);
  ASSERT_TRUE(rest.empty());
  ASSERT_TRUE(conversation.is_stopped());
  std::string sent;
  while (conversation.is_stopped()) {
    EXPECT_LT(answered_count, due.size());
    sent += workspace.out.unsent();
    workspace.out.clear();
    answered_count += conversation.resume(workspace);
  }
  sent += workspace.out.unsent();
  workspace.out.clear();
  EXPECT_EQ(answered_count, due.size());
  EXPECT_TRUE(are_due(read_all(sent, false), due));
  EXPECT_EQ(conversation.awaited(), Conversation::Awaited::rest_of_head);
  conversation.abandon(workspace);
}

TEST(Conversation, StopsBeforeABadRequestAndAnswersItLater) {
  Workspace workspace({}, json::Mode::typed);
  workspace.service.set_time(test::kTime);
  const std::string large = document_of(Workspace::kUnsentSizeMax);
  const std::string wire = post(large) + post(large) + "GET  / HTTP/1.1\r\n\r\n" + get();
  Conversation conversation;
  std::string sent;
  for (std::string_view rest = wire; !rest.empty() && !conversation.is_over();) {
    receive(conversation, workspace, rest);
    while (conversation.is_stopped()) {
      EXPECT_FALSE(conversation.is_over());
      sent += workspace.out.unsent();
      workspace.out.clear();
      conversation.resume(workspace);
    }
  }
  EXPECT_TRUE(conversation.is_over());
  sent += workspace.out.unsent();
  workspace.out.clear();
  EXPECT_TRUE(are_due(read_all(sent, true), {echoed(large), echoed(large), 400}));
}

TEST(Conversation, MayBeAbandonedAtAnyOctet) {
  Workspace workspace({}, json::Mode::typed);
  const std::string wire = get() + post(kDocument) + chunked(chunk(kDocument) + kLastChunk);
  for (std::size_t size = 0; size <= wire.size(); ++size) {
    test::Exchange abandoned(workspace);
    abandoned.send(std::string_view(wire).substr(0, size));
  }
  test::Exchange exchange(workspace);
  exchange.send(wire);
  EXPECT_EQ(read_all(exchange.sent(), false).size(), 3U);
}

TEST(Conversation, ManyTakeTurnsInOneWorkspace) {
  Workspace workspace({}, json::Mode::typed);
  constexpr std::size_t kCount = 100;  // more than the workspace keeps spares for
  std::vector<std::unique_ptr<test::Exchange>> exchanges;
  std::vector<std::string> wires;
  std::vector<std::vector<Answer>> due(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    exchanges.push_back(std::make_unique<test::Exchange>(workspace));
    std::string wire;
    for (std::size_t k = 0; k < 6; ++k) {
      const std::string document = numbered(static_cast<int>(i * 10 + k));
      wire += k % 2 == 0 ? post(document)
                         : chunked(chunk(document.substr(0, 99)) + chunk(document.substr(99)) + kLastChunk);
      due[i].push_back(echoed(document));
    }
    wires.push_back(std::move(wire));
  }
  test::Random random(3);
  std::vector<std::size_t> offsets(kCount, 0);
  for (std::size_t unfinished = kCount; unfinished > 0;) {
    const std::size_t i = random.below(kCount);
    const std::string_view rest = std::string_view(wires[i]).substr(offsets[i]);
    if (rest.empty()) continue;
    const std::size_t size = std::min(rest.size(), 1 + random.below(std::size_t{1} << random.below(14)));
    exchanges[i]->send(rest.substr(0, size));
    offsets[i] += size;
    if (size == rest.size()) --unfinished;
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_TRUE(are_due(read_all(exchanges[i]->sent(), false), due[i])) << i;
    EXPECT_EQ(exchanges[i]->conversation().awaited(), Conversation::Awaited::next_request);
  }
}

TEST(Conversation, RandomCutsOfPipelinedRequestsChangeNothing) {
  const std::string parts[] = {
      get(),
      "\r\n" + get("Connection: keep-alive\r\nX: \x80\r\n"),
      post(kDocument),
      post("["),
      post(document_of(3000)),
      chunked(chunk(kDocument) + kLastChunk),
      chunked("0028;a=\"\\\"\"\r\n" + document_of(40) + "\r\n00\r\nA: b\r\n\r\n"),
      request("HEAD / HTTP/1.1"),
      request("OPTIONS * HTTP/1.1"),
      request("GET http://h/healthz HTTP/1.1"),
      request("BREW / HTTP/1.1", "Content-Length: 5\r\n") + "GET /",
      request("GET / HTTP/1.1", "Expect: nothing\r\n"),
      request("POST /# HTTP/1.1", "Transfer-Encoding: chunked\r\n") + chunk(get()) + kLastChunk,
  };
  const std::string ends[] = {
      "", "GE", get("A b\r\n"), chunked("x"), get("Connection: close\r\n"), post(kDocument).substr(0, 70)};
  Workspace workspace({}, json::Mode::typed);
  test::Random random(11);
  for (int run = 0; run < 300; ++run) {
    std::string wire;
    for (std::size_t count = random.below(20); count > 0; --count)
      wire += parts[random.below(std::size(parts))];
    wire += ends[random.below(std::size(ends))];
    if (wire.empty()) continue;
    test::Exchange whole(workspace);
    whole.send(wire);
    read_all(whole.sent(), whole.conversation().is_over());
    for (int i = 0; i < 10; ++i) {
      test::Exchange cut(workspace);
      cut.send(wire, test::random_cutting(wire.size(), 1 + random.below(100), random));
      ASSERT_EQ(cut.sent(), whole.sent()) << "run " << run;
      ASSERT_EQ(cut.conversation().is_over(), whole.conversation().is_over());
      ASSERT_EQ(cut.is_inside_request(), whole.is_inside_request());
    }
  }
}

TEST(Conversation, APrefixOfGoodRequestsIsNeverRefused) {
  Workspace workspace({}, json::Mode::typed);
  const std::string wire = get() + post(kDocument) + chunked(chunk(kDocument) + "0\r\nA: b\r\n\r\n") +
                           request("GET http://h?a HTTP/1.0", "Connection: keep-alive\r\n") + "\r\n" +
                           request("OPTIONS * HTTP/1.1");
  for (std::size_t size = 1; size <= wire.size(); ++size) {
    test::Exchange exchange(workspace);
    exchange.send(std::string_view(wire).substr(0, size));
    ASSERT_FALSE(exchange.conversation().is_over()) << size;
    for (const test::Response& response : read_all(exchange.sent(), false)) ASSERT_LT(response.status, 300);
  }
}

TEST(Conversation, ReceivesALargeBodyWhereItStays) {
  Workspace workspace({}, json::Mode::typed);
  workspace.service.set_time(test::kTime);
  const std::string document = document_of(500'000);
  const std::string wire = post(document);
  Conversation conversation;
  std::string_view rest = wire;
  const char* const shared = conversation.receive_space(workspace).data();
  receive(conversation, workspace, rest);
  EXPECT_NE(conversation.receive_space(workspace).data(), shared);
  EXPECT_EQ(conversation.receive_space(workspace).size(), rest.size()) << "never room for the next request";
  while (!rest.empty()) receive(conversation, workspace, rest);
  EXPECT_EQ(conversation.receive_space(workspace).data(), shared) << "at rest again";
  EXPECT_TRUE(are_due(read_all(std::string(workspace.out.unsent()), false), {echoed(document)}));
}

TEST(Workspace, GivesBackWhatALargeRequestTook) {
  const std::string document = document_of(900'000);
  for (const json::Mode mode : {json::Mode::typed, json::Mode::generic}) {
    Workspace workspace({}, mode);
    test::Exchange exchange(workspace);
    exchange.send(post(kDocument));
    EXPECT_FALSE(workspace.is_grown());
    exchange.send(post(document));
    EXPECT_TRUE(workspace.is_grown());
    workspace.release_spare();
    EXPECT_FALSE(workspace.is_grown());
    exchange.send(post(document));
    EXPECT_TRUE(
        are_due(read_all(exchange.sent(), false), {echoed(kDocument), echoed(document), echoed(document)}));

    workspace.out.append("unsent");
    workspace.release_spare();
    EXPECT_EQ(workspace.out.unsent(), "unsent") << "only an empty buffer shrinks";
    workspace.out.clear();
  }
}

TEST(Workspace, ResetForgetsTheRequestAtHandAndKeepsTheAnswers) {
  Workspace workspace({}, json::Mode::typed);
  test::Exchange whole(workspace);
  whole.send(get());
  {
    Conversation lost;
    const std::string wire = "GET / HT";
    wire.copy(lost.receive_space(workspace).data(), wire.size());
    workspace.received.fill(wire.size());
    (void)workspace.parser.parse_head(wire);
    workspace.out.append(whole.sent());
    workspace.reset();
  }
  test::Exchange exchange(workspace);
  exchange.send(post(kDocument) + get());
  EXPECT_TRUE(are_due(read_all(exchange.sent(), false), {kHello, echoed(kDocument), kHello}));
}

TEST(Conversation, SaysThatMemoryRanOutAndCloses) {
  Workspace workspace({}, json::Mode::typed);
  workspace.service.set_time(test::kTime);
  for (const std::string received : {"", "GE", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n{"}) {
    Conversation conversation;
    if (!received.empty()) {
      received.copy(conversation.receive_space(workspace).data(), received.size());
      conversation.received(received.size(), workspace);
    }
    conversation.run_out_of_memory(workspace);
    EXPECT_TRUE(conversation.is_over());
    EXPECT_TRUE(are_due(read_all(std::string(workspace.out.unsent()), true), {503})) << received;
    workspace.out.clear();
  }
}

}  // namespace
}  // namespace rest_echo::echo
