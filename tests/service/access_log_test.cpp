// The access log: one line for each answer, whatever the peer sends and whoever reads it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <map>
#include <memory>

#include "e2e/client.hpp"
#include "e2e/requests.hpp"
#include "e2e/server.hpp"
#include "service/log_lines.hpp"
#include "service/sockets.hpp"
#include "service/text.hpp"

namespace rest_echo::e2e {
namespace {

constexpr std::size_t kLineSizeMax = 4096;
constexpr std::size_t kRequestLineSizeMax = 512;

// Every line in its format, or the test fails.
std::vector<LogLine> read_lines(const std::vector<std::string>& lines, const std::string& format) {
  std::vector<LogLine> read;
  for (const std::string& line : lines) {
    const std::optional<LogLine> one = read_line(line, format);
    EXPECT_TRUE(one.has_value()) << line;
    EXPECT_LT(line.size(), kLineSizeMax);
    if (one) read.push_back(*one);
  }
  return read;
}

std::string target_of_size(std::size_t size) { return fmt::format("{:x<{}}", "/", size); }

// All answers of a connection on which nothing more is sent.
std::vector<Response> answers_to(std::uint16_t port, std::string_view octets) {
  Client client(port);
  EXPECT_TRUE(client.send(octets));
  client.finish_sending();
  EXPECT_NE(client.wait_for_end(), End::goes_on);
  std::vector<Response> answers;
  for (Response response = client.receive(); response.status != 0; response = client.receive()) {
    answers.push_back(std::move(response));
  }
  EXPECT_EQ(client.received(), "");
  return answers;
}

// Workers write to one file as they do to any log: appended. (The memory that a process's output goes to
// otherwise has no lock for its offset.)
Launch appending() { return {.command = {"sh", "-c", R"(exec "$@" >>/dev/stdout)", "sh"}}; }

class AccessLog : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] std::string option() const { return "--access-log=" + GetParam(); }
  [[nodiscard]] std::vector<LogLine> lines_after_stop(Server& server) const {
    EXPECT_EQ(server.stop(), 0);
    return read_lines(lines_since_listening(server.process().output()), GetParam());
  }
};

TEST_P(AccessLog, TellsWhoAskedForWhatWhenAndWhatTheAnswerWas) {
  Server server({option()});
  const std::string document = numbered_document(1, 100);
  const std::time_t before = std::time(nullptr);
  EXPECT_EQ(Client(server.port()).ask("GET /a?b=c HTTP/1.1\r\nHost: test\r\n\r\n").status, 200);
  EXPECT_EQ(Client(server.port()).ask(post(document)).content, document);
  const std::time_t after = std::time(nullptr);
  const std::vector<LogLine> lines = lines_after_stop(server);
  ASSERT_EQ(lines.size(), 2U);
  for (const LogLine& line : lines) {
    EXPECT_EQ(line.client, "127.0.0.1") << "and not ::ffff:127.0.0.1";
    EXPECT_GE(line.seconds, before - 1) << "UTC";
    EXPECT_LE(line.seconds, after);
    EXPECT_EQ(line.status, 200);
  }
  EXPECT_EQ(lines[0].request, "GET /a?b=c HTTP/1.1");
  EXPECT_EQ(lines[0].size, kHello.size());
  EXPECT_EQ(lines[1].request, "POST / HTTP/1.1");
  EXPECT_EQ(lines[1].size, document.size());
}

TEST_P(AccessLog, NamesClientsOfAllKinds) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("socket");
  Server server({option(), "--unix", path});
  EXPECT_TRUE(ask_at_path(path, "/by-file").ends_with("Hello World"));
  const bool has_ipv6 = can_connect(server.port(), "::1");
  if (has_ipv6) {
    EXPECT_EQ(Client(server.port(), {.host = "::1"}).ask(get("/v6")).status, 200);
  }
  EXPECT_EQ(Client(server.port(), {.host = "127.0.0.1"}).ask(get("/v4")).status, 200);
  std::map<std::string, std::string> clients;
  for (const LogLine& line : lines_after_stop(server)) clients[line.request] = line.client;
  EXPECT_EQ(clients["GET /by-file HTTP/1.1"], "unix");
  EXPECT_EQ(clients["GET /v4 HTTP/1.1"], "127.0.0.1");
  if (has_ipv6) {
    EXPECT_EQ(clients["GET /v6 HTTP/1.1"], "::1");
  }
}

// Requests of several connections, each named after its address: no line may carry another's.
TEST_P(AccessLog, NeverTakesOneClientForAnother) {
  Server server({option()});
  std::vector<std::unique_ptr<Client>> clients;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20; ++i) {
      if (round == 0) clients.push_back(std::make_unique<Client>(server.port()));
      const std::string half = get(fmt::format("/{}", i));
      ASSERT_TRUE(clients[static_cast<std::size_t>(i)]->send(half.substr(0, 10)));
    }
    if (round == 1 && can_connect(server.port(), "::1")) {
      EXPECT_EQ(Client(server.port(), {.host = "::1"}).ask(get("/other")).status, 200);
    }
    for (int i = 0; i < 20; ++i) {
      const std::string half = get(fmt::format("/{}", i));
      EXPECT_EQ(clients[static_cast<std::size_t>(i)]->ask(half.substr(10)).status, 200);
    }
  }
  for (const LogLine& line : lines_after_stop(server)) {
    EXPECT_EQ(line.client, contains(line.request, "/other") ? "::1" : "127.0.0.1") << line.request;
  }
}

struct Row {
  std::string name;
  std::string octets;
  std::vector<int> statuses;
  std::vector<std::string> requests;
  bool is_fault = false;  // then it does not matter whether the request is quoted
};

TEST_P(AccessLog, HasALineForEachAnswer) {
  const std::vector<Row> rows{
      {"pipelined",
       get("/1") + post("{}") + get("/2"),
       {200, 200, 200},
       {"GET /1 HTTP/1.1", "POST / HTTP/1.1", "GET /2 HTTP/1.1"}},
      {"chunked", post_chunked("{}", 1), {200}, {"POST / HTTP/1.1"}},
      {"HTTP/1.0", "GET /old HTTP/1.0\r\n\r\n", {200}, {"GET /old HTTP/1.0"}},
      {"absolute form", get("http://test/x"), {200}, {"GET http://test/x HTTP/1.1"}},
      {"asterisk form", "OPTIONS * HTTP/1.1\r\nHost: test\r\n\r\n", {204}, {"OPTIONS * HTTP/1.1"}},
      {"an empty line before", "\r\n" + get("/3"), {200}, {"GET /3 HTTP/1.1"}},
      {"bad JSON", post("{") + get("/4"), {400, 200}, {"POST / HTTP/1.1", "GET /4 HTTP/1.1"}},
      {"unknown method", "BREW /pot HTTP/1.1\r\nHost: test\r\n\r\n", {501}, {"BREW /pot HTTP/1.1"}},
      {"forbidden method", "TRACE /x HTTP/1.1\r\nHost: test\r\n\r\n", {405}, {"TRACE /x HTTP/1.1"}},
      {"no host", "GET /h HTTP/1.1\r\n\r\n", {400}, {"GET /h HTTP/1.1"}},
      {"early refusal",
       "POST /e HTTP/1.1\r\nHost: test\r\nExpect: the-unexpected\r\nContent-Length: 2\r\n\r\n",
       {417},
       {"POST /e HTTP/1.1"}},
      {"content too large",
       "POST /large HTTP/1.1\r\nHost: test\r\nContent-Length: 99999999\r\n\r\n",
       {413},
       {"POST /large HTTP/1.1"},
       true},
      {"bad chunk",
       "POST /chunk HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
       {400},
       {"POST /chunk HTTP/1.1"},
       true},
      {"no request at all", "nonsense\r\n\r\n", {400}, {""}},
      {"bad version", "GET / HTTP/x\r\n\r\n", {400}, {""}},
      {"future version", "GET / HTTP/2.0\r\nHost: test\r\n\r\n", {505}, {"GET / HTTP/2.0"}, true},
      {"bad field line", "GET /f HTTP/1.1\r\nHost : test\r\n\r\n", {400}, {"GET /f HTTP/1.1"}, true},
      {"a head without end", "GET /half HTTP/1.1\r\nHost: te", {400}, {"GET /half HTTP/1.1"}, true},
      {"content without end",
       "POST /half HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\n{}",
       {400},
       {"POST /half HTTP/1.1"}},
      {"a target too long", get(target_of_size(20'001)), {414}, {""}},
      {"a head too large",
       fmt::format("GET / HTTP/1.1\r\nHost: test\r\nX: {:x>20000}\r\n\r\n", ""),
       {431},
       {"GET / HTTP/1.1"},
       true},
      {"nothing", "", {}, {}},
      {"only an empty line", "\r\n", {}, {}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Server server({option()});
    std::vector<int> statuses;
    std::vector<std::size_t> sizes;
    for (const Response& answer : answers_to(server.port(), row.octets)) {
      statuses.push_back(answer.status);
      sizes.push_back(answer.content.size());
    }
    EXPECT_EQ(statuses, row.statuses);
    std::vector<int> logged_statuses;
    std::vector<std::size_t> logged_sizes;
    std::vector<std::string> logged_requests;
    for (const LogLine& line : lines_after_stop(server)) {
      logged_statuses.push_back(line.status);
      logged_sizes.push_back(line.size);
      logged_requests.push_back(line.request);
    }
    EXPECT_EQ(logged_statuses, statuses);
    EXPECT_EQ(logged_sizes, sizes);
    const bool is_quoted = !row.is_fault || logged_requests != std::vector<std::string>{""};
    if (is_quoted) {
      EXPECT_EQ(logged_requests, row.requests);
    }
  }
}

TEST_P(AccessLog, CountsWhatHeadGetsAsNothing) {
  Server server({option()});
  Client client(server.port());
  ASSERT_TRUE(client.send("HEAD /head HTTP/1.1\r\nHost: test\r\n\r\n"));
  EXPECT_EQ(client.receive(false).status, 200);
  const std::vector<LogLine> lines = lines_after_stop(server);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].request, "HEAD /head HTTP/1.1");
  EXPECT_EQ(lines[0].size, 0U);
}

TEST_P(AccessLog, HasALineForWhatWasNotCompleteInTime) {
  Server server({option(), "--head-timeout", "100ms", "--body-timeout", "100ms"});
  Client head(server.port());
  ASSERT_TRUE(head.send("GET /slow HTTP/1.1\r\n"));
  EXPECT_EQ(head.receive().status, 408);
  head.reset();
  Client body(server.port());
  ASSERT_TRUE(body.send("POST /slow HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\n{"));
  EXPECT_EQ(body.receive().status, 408);
  body.reset();
  Client chunks(server.port());
  ASSERT_TRUE(
      chunks.send("PUT /slow HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"));
  EXPECT_EQ(chunks.receive().status, 408);
  chunks.reset();
  const std::vector<LogLine> lines = lines_after_stop(server);
  ASSERT_EQ(lines.size(), 3U);
  for (const LogLine& line : lines) EXPECT_EQ(line.status, 408);
  EXPECT_TRUE(lines[0].request.empty() || lines[0].request == "GET /slow HTTP/1.1") << lines[0].request;
  EXPECT_EQ(lines[1].request, "POST /slow HTTP/1.1");
  EXPECT_EQ(lines[2].request, "PUT /slow HTTP/1.1");
}

TEST_P(AccessLog, LeavesHealthChecksOut) {
  Server server({option()});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Client(server.port()).ask(kHealthCheck).status, 200);
  EXPECT_EQ(run_server({"--healthcheck=" + server.url("/healthz")}).status, 0);
  EXPECT_EQ(Client(server.port()).ask(get("/healthz?x")).status, 200);
  EXPECT_EQ(Client(server.port()).ask(get("/healthzz")).status, 200);
  EXPECT_EQ(Client(server.port()).ask(get("/x/healthz")).status, 200);
  EXPECT_EQ(Client(server.port()).ask("GET /healthz HTTP/1.1\r\n\r\n").status, 400);  // no Host: no health
  std::vector<std::string> requests;
  std::vector<std::string> refused;
  for (const LogLine& line : lines_after_stop(server)) {
    (line.status == 200 ? requests : refused).push_back(line.request);
  }
  EXPECT_EQ(refused, std::vector<std::string>{"GET /healthz HTTP/1.1"});
  EXPECT_TRUE(std::ranges::find(requests, "GET /healthz HTTP/1.1") == requests.end());
  EXPECT_TRUE(std::ranges::find(requests, "GET /healthzz HTTP/1.1") != requests.end());
  EXPECT_TRUE(std::ranges::find(requests, "GET /x/healthz HTTP/1.1") != requests.end());
  EXPECT_GE(requests.size(), 2U);
  EXPECT_LE(requests.size(), 3U);
}

// Whatever is sent: as many lines as answers, with their statuses in their order, and what a line quotes is
// what was sent. More is not needed to show that nothing was split, added or forged.
TEST_P(AccessLog, QuotesWhatWasSentAndNothingElse) {
  std::vector<std::string> parts{
      "%0d%0a127.0.0.1 - - [01/Jan/2000:00:00:00 +0000] \"GET /forged HTTP/1.1\" 200 1",
      "\r\n127.0.0.1 - - [01/Jan/2000:00:00:00 +0000] \"GET /forged HTTP/1.1\" 200 1\r\n",
      "\n{\"time\":\"2000-01-01T00:00:00Z\",\"client\":\"1\",\"request\":\"\",\"status\":200,\"size\":1}\n",
      "\"",
      "\\",
      "\\\"",
      "\"}",
      "\",\"status\":299,\"x\":\"",
      "\" 299 1",
      "\\n",
      "\\x0a",
      "\\u000a",
      "\\\\",
      "'",
      "%22",
      "%5c",
      "%00",
      "\x1b[2J",
      "\x1b]0;title\x07",
      "\xc2\x9b"
      "2J",
      "\xe2\x80\xa8",
      "\xe2\x80\xae",
      "\xff\xfe",
      "\xc0\x8a",
      "\xed\xa0\x80",
      "\xf4\x90\x80\x80",
      "{}",
      "{0}",
      "%s%n",
      "$(id)",
      "`id`",
      "<script>",
      "\x7f",
      "\x80",
      "\xa0",
  };
  for (int octet = 0; octet < 256; ++octet) parts.emplace_back(1, static_cast<char>(octet));
  Server server({option(), "--max-head", "64k"});
  std::vector<int> statuses;
  std::vector<std::string> requests;
  const auto send = [&](const std::string& line) {
    const std::vector<Response> answers = answers_to(server.port(), line + "\r\nHost: test\r\n\r\n");
    EXPECT_GE(answers.size(), 1U) << line;
    for (const Response& answer : answers) {
      statuses.push_back(answer.status);
      requests.push_back(line);
    }
  };
  for (const std::string& part : parts) {
    send("GET /a" + part + "z HTTP/1.1");
    send("GET /?" + part + " HTTP/1.1");
    send("G" + part + "T / HTTP/1.1");
    send("GET / HTTP/1.1" + part);
  }
  for (const char filler : {'x', '"', '\\', '\x80', '\x1b', '%'}) {
    send(fmt::format("GET /{} HTTP/1.1", std::string(16'384, filler)));
  }
  const std::vector<LogLine> lines = lines_after_stop(server);
  ASSERT_EQ(lines.size(), statuses.size());
  std::size_t quoted_count = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].status, statuses[i]) << requests[i];
    EXPECT_EQ(lines[i].client, "127.0.0.1");
    if (lines[i].request.empty()) continue;
    ++quoted_count;
    std::string sent = requests[i].substr(0, requests[i].find('\r'));
    if (sent.size() > kRequestLineSizeMax) sent = sent.substr(0, kRequestLineSizeMax) + "...";
    EXPECT_EQ(lines[i].request, sent);
    EXPECT_FALSE(contains(sent, "\n")) << sent;
  }
  EXPECT_GT(quoted_count, parts.size()) << "most of it is good enough for a request line";
}

TEST_P(AccessLog, CutsLongRequestLinesAtALimit) {
  Server server({option()});
  constexpr std::size_t kAround = std::string_view("GET / HTTP/1.1").size();
  for (const std::size_t size : {511U, 512U, 513U}) {
    EXPECT_EQ(Client(server.port()).ask(get(target_of_size(size - kAround + 1))).status, 200);
  }
  const std::vector<LogLine> lines = lines_after_stop(server);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].request.size(), 511U);
  EXPECT_EQ(lines[1].request.size(), 512U);
  EXPECT_TRUE(lines[1].request.ends_with(" HTTP/1.1"));
  EXPECT_EQ(lines[2].request.size(), 512U + 3U);
  EXPECT_TRUE(lines[2].request.ends_with(" HTTP/1...."));
}

// Nobody has to stop the server to see its log.
TEST_P(AccessLog, IsWrittenWithinAboutASecond) {
  Server server({option()});
  const auto count_lines = [&server] { return lines_since_listening(server.process().output()).size(); };
  for (std::size_t round = 1; round <= 3; ++round) {
    EXPECT_EQ(Client(server.port()).ask(kGet).status, 200);
    const Clock::time_point start = Clock::now();
    EXPECT_TRUE(eventually([&] { return count_lines() == round; }));
    EXPECT_LT(elapsed_since(start), Milliseconds{5000});
  }
}

TEST_P(AccessLog, IsWholeAtTheEnd) {
  for (const std::string workers : {"1", "2"}) {
    SCOPED_TRACE(workers);
    Server server({option(), "--workers", workers}, appending());
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < 10; ++i) {
      clients.push_back(std::make_unique<Client>(server.port()));
      EXPECT_EQ(clients.back()->ask(get(fmt::format("/{}", i))).status, 200);
    }
    EXPECT_EQ(lines_after_stop(server).size(), 10U);
  }
}

// A load tool counts what it has received; a few answers may still be under way when it stops. The log goes
// into a file, which takes everything.
TEST_P(AccessLog, AgreesWithWrk) {
  if (!has_program("wrk")) GTEST_SKIP() << "no wrk here";
  constexpr std::size_t kConnectionCount = 8;
  Server server({option(), "--workers", "2"}, appending());
  const std::string report =
      run({.command = {"wrk", "-t1", "-c8", "-d1s", "--timeout", "20s", server.url()}}).output;
  EXPECT_EQ(server.stop(), 0);
  const std::size_t end = report.find(" requests in ");
  ASSERT_NE(end, std::string::npos) << report;
  const std::size_t counted = std::stoull(report.substr(report.rfind('\n', end) + 1));
  EXPECT_FALSE(contains(report, "Socket errors") || contains(report, "Non-2xx")) << report;
  const std::size_t logged = lines_since_listening(server.process().output()).size();
  EXPECT_GE(logged, counted);
  EXPECT_LE(logged, counted + kConnectionCount);
  EXPECT_EQ(server.process().errors(), "") << "nothing was lost";
}

TEST_P(AccessLog, AgreesWithH2loadExactly) {
  if (!has_program("h2load")) GTEST_SKIP() << "no h2load here";
  Server server({option(), "--workers", "2"}, appending());
  const Finished loaded = run({.command = {"h2load", "--h1", "-n", "3000", "-c", "8", server.url()}});
  EXPECT_TRUE(contains(loaded.output, "3000 succeeded, 0 failed")) << loaded.output;
  EXPECT_EQ(lines_after_stop(server).size(), 3000U);
}

INSTANTIATE_TEST_SUITE_P(Formats, AccessLog, testing::Values("text", "json"));

TEST(AccessLog, IsTextUnlessToldOtherwise) {
  for (const Launch& launch : {Launch{}, Launch{.environment = {"REST_ECHO_ACCESS_LOG=text"}}}) {
    Server server(
        launch.environment.empty() ? std::vector<std::string>{"--access-log"} : std::vector<std::string>{},
        launch);
    EXPECT_EQ(Client(server.port()).ask(kGet).status, 200);
    EXPECT_EQ(server.stop(), 0);
    EXPECT_EQ(read_lines(lines_since_listening(server.process().output()), "text").size(), 1U);
  }
  EXPECT_EQ(run_server({"--access-log=xml"}).status, 2);
}

TEST(AccessLog, IsOffByDefault) {
  for (const std::string workers : {"1", "2"}) {
    Server server({"--workers", workers});
    for (int i = 0; i < 10; ++i) EXPECT_EQ(Client(server.port()).ask(kGet).status, 200);
    EXPECT_EQ(Client(server.port()).ask("nonsense\r\n\r\n").status, 400);
    EXPECT_EQ(server.stop(), 0);
    EXPECT_TRUE(lines_since_listening(server.process().output()).empty()) << server.process().output();
    EXPECT_EQ(server.process().errors(), "");
  }
}

TEST(AccessLog, IsAllThereIsWhereTheServerIsQuiet) {
  const std::uint16_t port = find_free_port();
  Process server({.command = {server_program(), "--quiet", "--access-log", "--port", std::to_string(port)}});
  ASSERT_TRUE(eventually([&] { return can_connect(port); }));
  EXPECT_EQ(Client(port).ask(kGet).status, 200);
  server.send_signal(SIGTERM);
  EXPECT_EQ(server.wait_for_end(), 0);
  EXPECT_EQ(read_lines(split_lines(server.output()), "text").size(), 1U);
}

}  // namespace
}  // namespace rest_echo::e2e
