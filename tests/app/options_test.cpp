// The command line and the environment, through the program itself.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "e2e/client.hpp"
#include "e2e/requests.hpp"
#include "e2e/server.hpp"

namespace rest_echo::e2e {
namespace {

std::size_t line_count(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

struct NumberOption {
  std::string name;
  std::string environment;
  std::string range;  // as the message has it
  std::vector<std::string> bad;
  std::vector<std::string> good;
};

const std::vector<NumberOption> kNumberOptions{
    {"--port",
     "REST_ECHO_PORT",
     "0 to 65535",
     {"65536", "70000", "-1", "80x", "abc", "0x50", "+80", "8 0", "80.0", "18446744073709551616",
      "99999999999999999999999"},
     {"0"}},
    {"--backlog",
     "REST_ECHO_BACKLOG",
     "1 to 1048576",
     {"0", "1048577", "-5", "many", "1k"},
     {"1", "1048576"}},
    {"--max-connections",
     "REST_ECHO_MAX_CONNECTIONS",
     "1 to 16777216",
     {"0", "16777217", "-1", "x"},
     {"1", "16777216"}},
    {"--max-body",
     "REST_ECHO_MAX_BODY",
     "1 to 256M",
     {"0", "268435457", "257M", "1G", "1T", "-1k", "k", "1kk", "9999999999M"},
     {"1", "64k", "3M", "256M", "2m"}},
    {"--workers",
     "REST_ECHO_WORKERS",
     "1 to 1024, or auto",
     {"0", "1025", "-1", "two", "AUTO", "1.5"},
     {"1", "2", "auto"}},
    {"--max-head",
     "REST_ECHO_MAX_HEAD",
     "256 to 1M",
     {"255", "1048577", "2M", "1G", "-300", "head"},
     {"256", "1k", "1M"}},
    {"--head-timeout",
     "REST_ECHO_HEAD_TIMEOUT",
     "1ms to 24h",
     {"0", "0s", "25h", "86401s", "-1s", "1d", "s", "1.5s", "1 s"},
     {"1ms", "5", "5s", "10m", "24h"}},
    {"--body-timeout", "REST_ECHO_BODY_TIMEOUT", "1ms to 24h", {"0", "25h", "-1", "soon"}, {"1ms", "24h"}},
    {"--idle-timeout", "REST_ECHO_IDLE_TIMEOUT", "1ms to 24h", {"0", "25h", "-1", "soon"}, {"1ms", "24h"}},
    {"--write-timeout", "REST_ECHO_WRITE_TIMEOUT", "1ms to 24h", {"0", "25h", "-1", "soon"}, {"1ms", "24h"}},
    {"--grace-period",
     "REST_ECHO_GRACE_PERIOD",
     "0s to 24h",
     {"25h", "-1s", "later", "9223372036854775808"},
     {"0s", "0", "24h"}},
};

// One line that names the option, the value and what is allowed; nothing else, and exit status 2.
void expect_refusal(const Finished& finished, const std::vector<std::string>& parts) {
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.output, "");
  EXPECT_EQ(line_count(finished.errors), 1U) << finished.errors;
  EXPECT_TRUE(finished.errors.starts_with("rest-echo: ")) << finished.errors;
  for (const std::string& part : parts) {
    EXPECT_TRUE(contains(finished.errors, part)) << "'" << part << "' is not in: " << finished.errors;
  }
}

TEST(Options, RefuseNumbersOutsideTheirRange) {
  for (const NumberOption& option : kNumberOptions) {
    for (const std::string& value : option.bad) {
      SCOPED_TRACE(option.name + " " + value);
      expect_refusal(run_server({option.name, value}), {option.name, "'" + value + "'", option.range});
    }
  }
}

TEST(Options, RefuseTheSameFromTheEnvironment) {
  for (const NumberOption& option : kNumberOptions) {
    const std::string& value = option.bad.front();
    SCOPED_TRACE(option.environment + "=" + value);
    expect_refusal(run_server({}, {option.environment + "=" + value}), {option.name, value, option.range});
  }
  expect_refusal(run_server({}, {"PORT=http"}), {"--port", "'http'", "0 to 65535"});
}

TEST(Options, TakeNumbersAtTheEdgesOfTheirRange) {
  for (const NumberOption& option : kNumberOptions) {
    for (const std::string& value : option.good) {
      EXPECT_NO_THROW(Server({option.name + "=" + value})) << option.name << " " << value;
    }
    const std::string variable = option.environment + "=" + option.good.front();
    EXPECT_NO_THROW(Server({}, {.environment = {variable}})) << variable;
  }
}

TEST(Options, SayTheirRangeInHelp) {
  const Finished finished = run_server({"--help"});
  for (const NumberOption& option : kNumberOptions) {
    EXPECT_TRUE(contains(finished.output, option.name)) << option.name;
    EXPECT_TRUE(contains(finished.output, option.range)) << option.name;
    EXPECT_TRUE(option.name == "--port" || contains(finished.output, option.environment))
        << option.environment;
  }
}

TEST(Options, HelpAndVersionGoToStandardOutput) {
  for (const char* option : {"--help", "-h", "--version", "-V"}) {
    SCOPED_TRACE(option);
    const Finished finished = run_server({option});
    EXPECT_EQ(finished.status, 0);
    EXPECT_EQ(finished.errors, "");
    EXPECT_TRUE(contains(finished.output, option[1] == 'h' || option[2] == 'h' ? "Usage" : "simdjson"))
        << finished.output;
  }
  const std::string version = run_server({"--version"}).output;
  EXPECT_EQ(line_count(version), 1U) << version;
  EXPECT_TRUE(version.starts_with("rest-echo ")) << version;
  EXPECT_TRUE(contains(version, "g++ ") || contains(version, "clang ")) << version;
}

TEST(Options, RefuseUnknownOnesAndGuess) {
  struct Row {
    std::vector<std::string> arguments;
    std::vector<std::string> parts;
  };
  const std::vector<Row> rows{
      {{"--prot", "80"}, {"--prot", "--port"}},
      {{"--idle-timeuot", "5s"}, {"--idle-timeuot", "--idle-timeout"}},
      {{"--max_body=1M"}, {"--max_body", "--max-body"}},
      {{"--quite"}, {"--quite", "--quiet"}},
      {{"--frobnicate"}, {"--frobnicate"}},
      {{"-x"}, {"-x"}},
      {{"3000"}, {"3000"}},
      {{"--quiet", "serve"}, {"serve"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.arguments.front());
    expect_refusal(run_server(row.arguments), row.parts);
  }
}

TEST(Options, RefuseMissingValues) {
  for (const NumberOption& option : kNumberOptions) {
    SCOPED_TRACE(option.name);
    expect_refusal(run_server({option.name}), {option.name, option.range});
    expect_refusal(run_server({option.name + "="}), {option.name, option.range});
  }
}

TEST(Options, RefuseHostsThatAreNoAddress) {
  for (const char* host : {"localhost", "127.0.0.256", "127.1", "::g", "127.0.0.1:80", "::1%lo", "*"}) {
    SCOPED_TRACE(host);
    expect_refusal(run_server({"--host", host}), {"--host", host, "IPv4", "IPv6"});
  }
  expect_refusal(run_server({}, {"REST_ECHO_HOST=example.org"}), {"--host", "example.org"});
  expect_refusal(run_server({"--host", "127.0.0.1", "--host", "nowhere"}), {"--host", "nowhere"});
}

TEST(Options, RefuseChoicesThatAreNone) {
  struct Choice {
    std::string name;
    std::string environment;
    std::vector<std::string> good;
  };
  const std::vector<Choice> choices{{"--json", "REST_ECHO_JSON", {"typed", "generic"}},
                                    {"--access-log", "REST_ECHO_ACCESS_LOG", {"text", "json"}}};
  for (const Choice& choice : choices) {
    for (const char* value : {"xml", "Json", "TYPED", "1"}) {
      SCOPED_TRACE(choice.name + "=" + value);
      const std::vector<std::string> parts{choice.name, value, choice.good[0], choice.good[1]};
      expect_refusal(run_server({choice.name + "=" + value}), parts);
      expect_refusal(run_server({}, {choice.environment + "=" + value}), parts);
    }
    for (const std::string& value : choice.good) {
      EXPECT_NO_THROW(Server({choice.name + "=" + value})) << value;
      EXPECT_NO_THROW(Server({}, {.environment = {choice.environment + "=" + value}})) << value;
    }
  }
}

TEST(Options, RefuseAQuietThatIsNeitherYesNorNo) {
  expect_refusal(run_server({"--quiet=perhaps"}), {"--quiet", "perhaps"});
  expect_refusal(run_server({}, {"REST_ECHO_QUIET=perhaps"}), {"--quiet", "perhaps"});
}

TEST(Options, FlagGoesBeforeEnvironment) {
  const Server server({"--max-body", "64k"},
                      {.environment = {"PORT=70000", "REST_ECHO_PORT=70000", "REST_ECHO_MAX_BODY=1"}});
  EXPECT_EQ(Client(server.port()).ask(post(numbered_document(1))).status, 200);
}

TEST(Options, OwnPortVariableGoesBeforeTheCommonOne) {
  const std::uint16_t port = find_free_port();
  const std::vector<std::string> environment{"PORT=70000", "REST_ECHO_PORT=" + std::to_string(port)};
  Process process({.command = {server_program()}, .environment = environment});
  EXPECT_TRUE(eventually([&] { return find_port(process.output()) == port; })) << process.errors();
}

TEST(Options, CommonPortVariableCounts) {
  const std::uint16_t port = find_free_port();
  Process process({.command = {server_program()}, .environment = {"PORT=" + std::to_string(port)}});
  EXPECT_TRUE(eventually([&] { return find_port(process.output()) == port; })) << process.errors();
}

TEST(Options, LastOfSeveralCounts) {
  const Server server({"--max-body", "1", "--max-body", "64k"});
  EXPECT_EQ(Client(server.port()).ask(post(numbered_document(1))).status, 200);
}

TEST(Options, EnvironmentCounts) {
  const Server server({}, {.environment = {"REST_ECHO_MAX_BODY=100", "REST_ECHO_HOST=127.0.0.2,127.0.0.3"}});
  EXPECT_EQ(Client(server.port(), {.host = "127.0.0.2"}).ask(post(numbered_document(1))).status, 413);
  EXPECT_TRUE(can_connect(server.port(), "127.0.0.3"));
  EXPECT_FALSE(can_connect(server.port(), "127.0.0.1"));
}

TEST(Options, EmptyVariablesCountAsAbsent) {
  EXPECT_NO_THROW(
      Server({}, {.environment = {"PORT=", "REST_ECHO_MAX_BODY=", "REST_ECHO_HOST=", "REST_ECHO_QUIET="}}));
}

TEST(Options, EmptyOwnPortVariableLeavesTheCommonOne) {
  const std::uint16_t port = find_free_port();
  const std::vector<std::string> environment{"PORT=" + std::to_string(port), "REST_ECHO_PORT="};
  Process process({.command = {server_program()}, .environment = environment});
  EXPECT_TRUE(eventually([&] { return find_port(process.output()) == port; })) << process.errors();
}

TEST(Options, QuietVariableMayBeFalse) {
  for (const char* value : {"0", "false", "off", "no"}) {
    EXPECT_NO_THROW(Server({}, {.environment = {std::string("REST_ECHO_QUIET=") + value}})) << value;
  }
}

TEST(Options, SizeLimitsCountOctets) {
  const Server server({"--max-body=2k", "--max-head=1k"});
  const std::string document = numbered_document(1, 2048);
  ASSERT_EQ(document.size(), 2048U);
  EXPECT_EQ(Client(server.port()).ask(post(document)).status, 200);
  EXPECT_EQ(Client(server.port()).ask(post(document + " ")).status, 413);
  const std::string head = "GET / HTTP/1.1\r\nHost: test\r\nX: ";
  const std::string filler(1024 - head.size() - 4, 'x');
  EXPECT_EQ(Client(server.port()).ask(head + filler + "\r\n\r\n").status, 200);
  EXPECT_EQ(Client(server.port()).ask(head + filler + "x\r\n\r\n").status, 431);
}

TEST(Options, FurtherConnectionsWaitForTheirTurn) {
  const Server server({"--max-connections", "2"});
  Client first(server.port());
  EXPECT_EQ(first.ask(kGet).status, 200);
  auto second = std::make_unique<Client>(server.port());
  EXPECT_EQ(second->ask(kGet).status, 200);
  Client third(server.port());
  third.send(kGet);
  EXPECT_FALSE(third.has_received_within(Milliseconds{300}));
  EXPECT_EQ(first.ask(kGet).status, 200);
  second.reset();
  EXPECT_EQ(third.receive().status, 200);
}

}  // namespace
}  // namespace rest_echo::e2e
