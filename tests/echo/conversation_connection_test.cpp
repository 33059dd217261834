// Several requests on one connection: order, persistence, expectations, the end.

#include <string>
#include <vector>

#include "echo/rows.hpp"

namespace rest_echo::echo {
namespace {

using namespace std::string_literals;
using enum Ending;

const Answer kEchoed = echoed(kDocument);
const Answer kNull = echoed(R"({"colors":null})");

TEST(Conversation, Pipelining) {
  check({
      {"three", get() + post(kDocument) + get(), {kHello, kEchoed, kHello}},
      {"mixed methods and framings",
       post(kDocument) + chunked(chunk(kDocument) + kLastChunk) + request("HEAD / HTTP/1.1") +
           request("OPTIONS / HTTP/1.1") + get() + request("BREW / HTTP/1.1") + post("{}"),
       {kEchoed, kEchoed, to_head(200), 204, kHello, 501, kNull}},
      {"the next has only begun", get() + "GET / HT", {kHello}, inside},
      {"the next's content has only begun", get() + post(kDocument).substr(0, 60), {kHello}, inside},
      {"the next's chunks have only begun", get() + chunked("2\r\n{"), {kHello}, inside},
      {"a refused document in the middle",
       post(kDocument) + post("[") + post(kDocument),
       {kEchoed, 400, kEchoed}},
      {"a bad head in the middle",
       post(kDocument) + get("A b\r\n") + post(kDocument),
       {kEchoed, 400},
       closes},
      {"a bad chunk in the middle",
       post(kDocument) + chunked("x\r\n") + post(kDocument),
       {kEchoed, 400},
       closes},
      {"close in the middle",
       post(kDocument) + get("Connection: close\r\n") + post(kDocument),
       {kEchoed, kHello},
       closes},
      {"1.0 in the middle", get() + request("GET / HTTP/1.0") + get(), {kHello, kHello}, closes},
      {"garbage behind close", get("Connection: close\r\n") + "\x01\x02", {kHello}, closes},
  });
  RowChecker checker;
  for (const int count : {100, 900}) {
    Row row{std::to_string(count) + " numbered", "", {}};
    for (int i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      const std::string document =
          R"({"colors":[{"color":")" + number + R"(","code":{"rgba":[)" + number + "]}}]}";
      row.wire += i % 3 == 0 ? chunked(chunk(document) + kLastChunk) : post(document);
      row.answers.push_back(echoed(document));
    }
    checker.check(row);
  }
}

TEST(Conversation, LargeContentBesideSmall) {
  const std::string large = document_of(64 * 1024);
  const std::string larger = document_of(200'000);
  check({
      {"small, large, small", post("{}") + post(large) + get(), {kNull, echoed(large), kHello}},
      {"large, small, larger, chunked, small",
       post(large) + post("{}") + post(larger) + chunked(chunk(large) + kLastChunk) + get(),
       {echoed(large), kNull, echoed(larger), echoed(large), kHello}},
  });
}

TEST(Conversation, Persistence) {
  const auto with = [](const std::string& lines, const std::string& version = "1.1") {
    return request("GET / HTTP/" + version, lines);
  };
  check({
      {"1.1 stays", with(""), {kHello}},
      {"close", with("Connection: close\r\n"), {kHello}, closes},
      {"any case", with("CONNECTION: CLOSE\r\n"), {kHello}, closes},
      {"among options", with("Connection: a, close , b\r\n"), {kHello}, closes},
      {"beside keep-alive", with("Connection: keep-alive, close\r\n"), {kHello}, closes},
      {"beside empty members", with("Connection: ,close,,\r\n"), {kHello}, closes},
      {"on a second line", with("Connection: keep-alive\r\nConnection: close\r\n"), {kHello}, closes},
      {"look-alikes", with("Connection: closed, xclose\r\n"), {kHello}},
      {"close, POST", post(kDocument, "Connection: close\r\n") + get(), {kEchoed}, closes},
      {"close, chunked",
       chunked(chunk(kDocument) + kLastChunk, "Connection: close\r\n") + get(),
       {kEchoed},
       closes},
      {"close, HEAD", request("HEAD / HTTP/1.1", "Connection: close\r\n"), {to_head(200)}, closes},
      {"close, OPTIONS", request("OPTIONS / HTTP/1.1", "Connection: close\r\n"), {204}, closes},
      {"close, refused document", post("[", "Connection: close\r\n"), {400}, closes},
      {"close, unknown method", request("BREW / HTTP/1.1", "Connection: close\r\n"), {501}, closes},
      {"close, 415", post("x", "Content-Encoding: gzip\r\nConnection: close\r\n"), {415}, closes},
      {"1.0", with("", "1.0"), {kHello}, closes},
      {"1.0, then another", with("", "1.0") + get(), {kHello}, closes},
      {"1.0, keep-alive", with("Connection: keep-alive\r\n", "1.0"), {kHello}},
      {"1.0, keep-alive, any case", with("connection: Keep-Alive\r\n", "1.0") + get(), {kHello, kHello}},
      {"1.0, keep-alive and close", with("Connection: keep-alive, close\r\n", "1.0"), {kHello}, closes},
      {"1.0, POST", request("POST / HTTP/1.0", "Content-Length: 2\r\n") + "{}", {kNull}, closes},
      {"1.0, POST, keep-alive",
       request("POST / HTTP/1.0", "Connection: keep-alive\r\nContent-Length: 2\r\n") + "{}" + get(),
       {kNull, kHello}},
      {"1.0, keep-alive, refused document",
       request("POST / HTTP/1.0", "Connection: keep-alive\r\nContent-Length: 1\r\n") + "[",
       {400}},
      {"1.0 without Host, keep-alive", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", {kHello}},
  });
}

TEST(Conversation, ConfirmsKeepAliveToHttp10) {
  Workspace workspace({}, json::Mode::typed);
  const std::string confirmation = "\r\nConnection: keep-alive\r\n";
  for (const std::string line :
       {"GET / HTTP/1.0", "HEAD / HTTP/1.0", "POST / HTTP/1.0", "OPTIONS / HTTP/1.0"}) {
    test::Exchange exchange(workspace);
    exchange.send(request(line, "Connection: keep-alive\r\n"));
    EXPECT_NE(exchange.sent().find(confirmation), std::string::npos) << exchange.sent();
  }
  test::Exchange exchange(workspace);
  exchange.send(get("Connection: keep-alive\r\n"));
  EXPECT_EQ(exchange.sent().find(confirmation), std::string::npos) << "1.1 stays without a word";
}

TEST(Conversation, ExpectContinue) {
  const auto expecting = [](const std::string& value, const std::string& rest,
                            const std::string& line = "POST / HTTP/1.1") {
    return request(line, "Expect: " + value + "\r\nContent-Length: 2\r\n") + rest;
  };
  const std::size_t head_size = expecting("100-continue", "").size();
  const std::size_t chunked_head_size = chunked("", "Expect: 100-continue\r\n").size();
  const std::size_t get_size = get().size();
  check({
      {"head alone", expecting("100-continue", ""), {}, inside, {head_size}},
      {"then content", expecting("100-continue", "{}"), {kNull}, stays, {head_size}},
      {"any case", expecting("100-CONTINUE", "{}"), {kNull}, stays, {head_size}},
      {"chunked",
       chunked(chunk("{}") + kLastChunk, "Expect: 100-continue\r\n"),
       {kNull},
       stays,
       {chunked_head_size}},
      {"chunked, no content",
       chunked(kLastChunk, "Expect: 100-continue\r\n"),
       {400},
       stays,
       {chunked_head_size}},
      {"a later request",
       get() + expecting("100-continue", "{}") + get(),
       {kHello, kNull, kHello},
       stays,
       {get_size + head_size}},
      {"two of them",
       expecting("100-continue", "{}") + expecting("100-continue", "{}"),
       {kNull, kNull},
       stays,
       {head_size, 2 * head_size + 2}},
      {"refused document", expecting("100-continue", "[1") + get(), {400, kHello}, stays, {head_size}},
      {"close",
       request("POST / HTTP/1.1", "Expect: 100-continue\r\nConnection: close\r\nContent-Length: 2\r\n") +
           "{}",
       {kNull},
       closes,
       {request("POST / HTTP/1.1", "Expect: 100-continue\r\nConnection: close\r\nContent-Length: 2\r\n")
            .size()}},
      {"HEAD", expecting("100-continue", "{}", "HEAD / HTTP/1.1"), {to_head(200)}, stays, {head_size}},
      {"no content announced", get("Expect: 100-continue\r\n"), {kHello}},
      {"length 0", request("POST / HTTP/1.1", "Expect: 100-continue\r\nContent-Length: 0\r\n"), {400}},
      {"empty", expecting("", "{}"), {kNull}},
      {"1.0", expecting("100-continue", "{}", "POST / HTTP/1.0"), {kNull}, closes},
      {"another", expecting("x", ""), {417}, closes},
      {"another, its content comes all the same", expecting("x", "{}") + get(), {417}, closes},
      {"another beside 100-continue", expecting("100-continue, x", ""), {417}, closes},
      {"another, no content", get("Expect: x\r\n") + get(), {417, kHello}},
      {"with a parameter", expecting("100-continue;a", ""), {417}, closes},
      {"another, 1.0", expecting("x", "{}", "POST / HTTP/1.0"), {417}, closes},
  });
}

TEST(Conversation, WhatTheHeadAloneRefusesGetsNo100) {
  const auto expecting = [](const std::string& line, const std::string& fields = "Content-Length: 2\r\n") {
    return request(line, "Expect: 100-continue\r\n" + fields);
  };
  // The content held back would be taken for a request if the connection stayed.
  check({
      {"too large", expecting("POST / HTTP/1.1", "Content-Length: 99999999\r\n"), {413}, closes},
      {"a coding",
       expecting("POST / HTTP/1.1", "Content-Encoding: gzip\r\nContent-Length: 2\r\n"),
       {415},
       closes},
      {"a coding, chunked",
       expecting("POST / HTTP/1.1", "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n"),
       {415},
       closes},
      {"a bad target", expecting("POST /# HTTP/1.1"), {400}, closes},
      {"no Host", "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n", {400}, closes},
      {"an unknown method", expecting("BREW / HTTP/1.1"), {501}, closes},
      {"TRACE", expecting("TRACE / HTTP/1.1"), {405}, closes},
      {"its content comes all the same", expecting("BREW / HTTP/1.1") + "{}" + get(), {501}, closes},
      {"what came before is answered", get() + expecting("BREW / HTTP/1.1"), {kHello, 501}, closes},
      {"a bad length", expecting("POST / HTTP/1.1", "Content-Length: x\r\n"), {400}, closes},
      {"both framings",
       expecting("POST / HTTP/1.1", "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n"),
       {400},
       closes},
  });
}

/// Requests of every framing, one behind the other.
std::string one_of_each() {
  return get() + "\r\n" + post(kDocument) +
         chunked("5;a=\"b\"\r\n{    \r\n" + chunk("}") + "0\r\nA: b\r\n\r\n") +
         request("HEAD /a HTTP/1.1", "A: b\r\n") + request("OPTIONS * HTTP/1.1");
}

TEST(Conversation, EndOfInputAtEveryOctet) {
  Workspace workspace({}, json::Mode::typed);
  const std::string wire = one_of_each();
  for (std::size_t size = 0; size <= wire.size(); ++size) {
    for (const test::Cutting& cutting : {test::Cutting{size}, test::pieces_of(1, size)}) {
      test::Exchange exchange(workspace);
      if (size > 0) exchange.send(std::string_view(wire).substr(0, size), cutting);
      const std::size_t answered_size = exchange.sent().size();
      const bool was_inside = exchange.is_inside_request();
      exchange.end_input();
      EXPECT_TRUE(exchange.conversation().is_over());
      const std::vector<test::Response> last = read_all(exchange.sent().substr(answered_size), true);
      ASSERT_EQ(last.size(), was_inside ? 1U : 0U) << "behind " << size;
      if (was_inside) {
        ASSERT_EQ(last.front().status, 400) << "behind " << size;
      }
    }
  }
}

TEST(Conversation, TimeOutAtEveryOctet) {
  Workspace workspace({}, json::Mode::typed);
  const std::string wire = one_of_each();
  for (std::size_t size = 0; size <= wire.size(); ++size) {
    test::Exchange exchange(workspace);
    exchange.send(std::string_view(wire).substr(0, size));
    const std::size_t answered_size = exchange.sent().size();
    const bool was_inside = exchange.is_inside_request();
    exchange.time_out();
    EXPECT_TRUE(exchange.conversation().is_over());
    const std::vector<test::Response> last = read_all(exchange.sent().substr(answered_size), true);
    ASSERT_EQ(last.size(), was_inside ? 1U : 0U) << "behind " << size;
    if (was_inside) {
      ASSERT_EQ(last.front().status, 408) << "behind " << size;
    }
  }
}

// Which octets of a request count as its beginning decides both of the above.
TEST(Conversation, AwaitsWhatIsDue) {
  using Awaited = Conversation::Awaited;
  Workspace workspace({}, json::Mode::typed);
  const std::string head = request("POST / HTTP/1.1", "Content-Length: 2\r\n");
  const std::string wire = head + "{}";
  test::Exchange exchange(workspace);
  EXPECT_EQ(exchange.conversation().awaited(), Awaited::first_request);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t size = 1; size <= wire.size(); ++size) {
      exchange.send(wire.substr(size - 1, 1));
      const Awaited due = size == wire.size()   ? Awaited::next_request
                          : size >= head.size() ? Awaited::rest_of_body
                                                : Awaited::rest_of_head;
      ASSERT_EQ(exchange.conversation().awaited(), due) << size;
    }
    exchange.send("\r\n");
    EXPECT_EQ(exchange.conversation().awaited(), Awaited::next_request);
  }
}

TEST(Conversation, HeadIsAnsweredWithoutContentWhenItBreaksOff) {
  Workspace workspace({}, json::Mode::typed);
  test::Exchange late(workspace);
  late.send("HEAD / HTTP/1.1\r\nHo");
  late.time_out();
  EXPECT_TRUE(are_due(read_all(late.sent(), true), {to_head(408)}));
  test::Exchange broken(workspace);
  broken.send("HEAD / HTTP/1.1\r\nHo");
  broken.end_input();
  EXPECT_TRUE(are_due(read_all(broken.sent(), true), {to_head(400)}));
}

TEST(Conversation, Draining) {
  RowChecker checker;
  checker.workspace().service.start_draining();
  checker.check({
      {"GET", get(), {kHello}, closes},
      {"POST", post(kDocument), {kEchoed}, closes},
      {"chunked", chunked(chunk(kDocument) + kLastChunk), {kEchoed}, closes},
      {"1.0, keep-alive", request("GET / HTTP/1.0", "Connection: keep-alive\r\n"), {kHello}, closes},
      {"refused document", post("["), {400}, closes},
      {"what comes behind is not answered", get() + get(), {kHello}, closes},
      {"health", request("GET /healthz HTTP/1.1"), {503}, closes},
      {"health, HEAD", request("HEAD /healthz HTTP/1.1"), {to_head(503)}, closes},
      {"OPTIONS", request("OPTIONS / HTTP/1.1"), {204}, closes},
      {"expecting 100",
       request("POST / HTTP/1.1", "Expect: 100-continue\r\nContent-Length: 2\r\n") + "{}",
       {kNull},
       closes,
       {request("POST / HTTP/1.1", "Expect: 100-continue\r\nContent-Length: 2\r\n").size()}},
  });
}

TEST(Conversation, DrainingBeginsInsideARequest) {
  Workspace workspace({}, json::Mode::typed);
  test::Exchange exchange(workspace);
  exchange.send(get() + post(kDocument).substr(0, 50));
  EXPECT_EQ(read_all(exchange.sent(), false).size(), 1U);
  const std::size_t answered_size = exchange.sent().size();
  workspace.service.start_draining();
  exchange.send(post(kDocument).substr(50));
  EXPECT_TRUE(are_due(read_all(exchange.sent().substr(answered_size), true), {kEchoed}));
  EXPECT_TRUE(exchange.conversation().is_over());
}

TEST(Conversation, DateIsTheTimeItIs) {
  Workspace workspace({}, json::Mode::typed);
  test::Exchange exchange(workspace);
  for (int second = 37; second < 40; ++second) {
    workspace.service.set_time(test::kTime + second - 37);
    const std::size_t answered_size = exchange.sent().size();
    exchange.send(get() + post("[") + request("OPTIONS / HTTP/1.1"));
    std::vector<test::Response> responses;
    EXPECT_EQ(test::read_responses(exchange.sent().substr(answered_size), responses), std::nullopt);
    EXPECT_EQ(responses.size(), 3U);
    for (const test::Response& response : responses) {
      EXPECT_EQ(response.field("Date"), "Sun, 06 Nov 1994 08:49:" + std::to_string(second) + " GMT");
    }
  }
}

}  // namespace
}  // namespace rest_echo::echo
