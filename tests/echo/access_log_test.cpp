#include "rest_echo/echo/access_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "echo/rows.hpp"

namespace rest_echo::echo {
namespace {

using namespace std::string_literals;

std::string logged(AccessLog::Format format, std::string_view request_line) {
  AccessLog log(format);
  log.set_time(test::kTime);
  log.add("::1", request_line, {http::Status::ok, 11});
  return std::string(log.lines());
}

TEST(AccessLog, OneLineInEitherFormat) {
  struct Row {
    std::string request_line;
    std::string as_text;
    std::string as_json;
  };
  const Row rows[] = {
      {"GET / HTTP/1.1", "GET / HTTP/1.1", "GET / HTTP/1.1"},
      {"", "-", ""},
      {R"(GET /" HTTP/1.1)", R"(GET /\" HTTP/1.1)", R"(GET /\" HTTP/1.1)"},
      {R"(GET /\ HTTP/1.1)", R"(GET /\\ HTTP/1.1)", R"(GET /\\ HTTP/1.1)"},
      {"\x00\x1f\x7f\x80\xff~ "s, R"(\x00\x1f\x7f\x80\xff~ )", R"(\u0000\u001f\u007f\u0080\u00ff~ )"},
      {"a\r\n127.0.0.1 - -", R"(a\x0d\x0a127.0.0.1 - -)", R"(a\u000d\u000a127.0.0.1 - -)"},
      {std::string(512, 'a'), std::string(512, 'a'), std::string(512, 'a')},
      {std::string(513, 'a'), std::string(512, 'a') + "...", std::string(512, 'a') + "..."},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(logged(AccessLog::Format::text, row.request_line),
              "::1 - - [06/Nov/1994:08:49:37 +0000] \"" + row.as_text + "\" 200 11\n");
    EXPECT_EQ(logged(AccessLog::Format::json, row.request_line),
              R"({"time":"1994-11-06T08:49:37Z","client":"::1","request":")" + row.as_json +
                  R"(","status":200,"size":11})" + "\n");
  }
}

TEST(AccessLog, NoLineIsTooLongForAPipe) {
  for (const AccessLog::Format format : {AccessLog::Format::text, AccessLog::Format::json}) {
    EXPECT_LE(logged(format, std::string(100'000, '\xff')).size(), AccessLog::kLineSizeMax);
    EXPECT_LE(logged(format, std::string(100'000, '"')).size(), AccessLog::kLineSizeMax);
  }
}

TEST(AccessLog, KeepsWhatHasNotBeenWritten) {
  AccessLog log(AccessLog::Format::text);
  log.set_time(test::kTime);
  log.add("a", "GET /1 HTTP/1.1", {http::Status::ok, 11});
  const std::string first(log.lines());
  log.set_time(test::kTime + 1);
  log.add("b", "GET /2 HTTP/1.1", {http::Status::bad_request, 0});
  log.consume(first.size());
  EXPECT_EQ(log.lines(), "b - - [06/Nov/1994:08:49:38 +0000] \"GET /2 HTTP/1.1\" 400 0\n");
}

/// The lines of a conversation without client and time, joined by ` | `.
std::string log_of(const std::string& wire, const test::Cutting& cutting, bool ends) {
  Workspace workspace({}, json::Mode::typed);
  workspace.access_log.emplace(AccessLog::Format::text);
  test::Exchange exchange(workspace);
  exchange.send(wire, cutting);
  if (ends) exchange.end_input();
  std::string text;
  for (std::string_view lines = workspace.access_log->lines(); !lines.empty();) {
    const std::size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end);
    if (!text.empty()) text += " | ";
    text += line.substr(line.find('"'));
    lines.remove_prefix(end + 1);
  }
  return text;
}

TEST(AccessLog, HasALineForEachAnswer) {
  struct Row {
    std::string name;
    std::string wire;
    bool ends;  ///< the peer sends no more
    std::string expected;
  };
  const std::string hello = R"("GET / HTTP/1.1" 200 11)";
  const Row rows[] = {
      {"three", get() + post("{}") + request("HEAD /a?b HTTP/1.1"), false,
       hello + R"( | "POST / HTTP/1.1" 200 15 | "HEAD /a?b HTTP/1.1" 200 0)"},
      {"health", request("GET /healthz HTTP/1.1") + get(), false, hello},
      {"its path, with content", "POST /healthz HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}", false,
       R"("POST /healthz HTTP/1.1" 200 15)"},
      {"its path, a bad field line", request("GET /healthz HTTP/1.1", "A b\r\n"), false,
       R"("GET /healthz HTTP/1.1" 400 87)"},
      {"no content", request("OPTIONS * HTTP/1.1"), false, R"("OPTIONS * HTTP/1.1" 204 0)"},
      {"an empty line before", "\r\n" + get() + "\r\n" + request("HEAD / HTTP/1.0"), false,
       hello + R"( | "HEAD / HTTP/1.0" 200 0)"},
      {"chunked", chunked(chunk("{}") + kLastChunk) + get(), false, R"("POST / HTTP/1.1" 200 15 | )" + hello},
      {"a bad field line", get("A b\r\n"), false, R"("GET / HTTP/1.1" 400 87)"},
      {"no request line", "\x16\x03\x01", false, R"("-" 400 96)"},
      {"broken off in the head", "GET / HTTP/1.1\r\nHos", true, R"("GET / HTTP/1.1" 400 86)"},
      {"broken off in the content", post(kDocument).substr(0, 60), true, R"("POST / HTTP/1.1" 400 86)"},
      {"broken off in the request line", "GET /", true, R"("-" 400 86)"},
      {"bad chunk", chunked("x"), false, R"("POST / HTTP/1.1" 400 81)"},
      {"refused early", request("BREW / HTTP/1.1", "Expect: 100-continue\r\nContent-Length: 2\r\n"), false,
       R"("BREW / HTTP/1.1" 501 81)"},
      {"100 Continue is no answer",
       request("POST / HTTP/1.1", "Expect: 100-continue\r\nContent-Length: 2\r\n") + "{}", false,
       R"("POST / HTTP/1.1" 200 15)"},
  };
  for (const Row& row : rows) {
    test::for_each_cutting(row.wire.size(), [&](const test::Cutting& cutting) {
      EXPECT_EQ(log_of(row.wire, cutting, row.ends), row.expected)
          << row.name << ", " << test::describe(cutting);
    });
  }
}

TEST(AccessLog, ResponsesAreCountedByClass) {
  Workspace workspace({}, json::Mode::typed);
  test::Exchange exchange(workspace);
  exchange.send(get() + post("{}") + post("[") + request("BREW / HTTP/1.1") + request("OPTIONS / HTTP/1.1") +
                request("POST / HTTP/1.1", "Expect: 100-continue\r\nContent-Length: 2\r\n"));
  EXPECT_EQ(workspace.service.responses().counts(), (std::array<std::uint64_t, 6>{0, 0, 3, 0, 1, 1}));
  exchange.send("{}GET / HTTP/2.0\r\n");
  EXPECT_EQ(workspace.service.responses().counts(), (std::array<std::uint64_t, 6>{0, 0, 4, 0, 1, 2}));
  EXPECT_EQ(workspace.service.responses().last().status, http::Status::http_version_not_supported);
}

}  // namespace
}  // namespace rest_echo::echo
