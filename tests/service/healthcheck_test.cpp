// `--healthcheck`: what a container asks whether the server is well.

#include "rest_echo/app/healthcheck.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <thread>

#include "e2e/client.hpp"
#include "e2e/requests.hpp"
#include "e2e/server.hpp"
#include "service/sockets.hpp"
#include "service/text.hpp"

namespace rest_echo::e2e {
namespace {

struct Check {
  Finished finished;
  Milliseconds time;
};

Check check(std::vector<std::string> arguments, std::vector<std::string> environment = {}) {
  const Clock::time_point start = Clock::now();
  Finished finished = run_server(std::move(arguments), std::move(environment));
  return {std::move(finished), elapsed_since(start)};
}

std::string url_of(std::uint16_t port, const std::string& rest = "/healthz") {
  return fmt::format("http://127.0.0.1:{}{}", port, rest);
}

void expect_healthy(const Check& done) {
  EXPECT_EQ(done.finished.status, 0) << done.finished.errors;
  EXPECT_EQ(done.finished.output, "");
  EXPECT_EQ(done.finished.errors, "");
}

// One line says why. The server has a second, and a loaded machine some more to start and end a process.
void expect_ill(const Check& done, const std::string& why = "") {
  EXPECT_EQ(done.finished.status, 1);
  EXPECT_EQ(done.finished.output, "");
  EXPECT_TRUE(done.finished.errors.starts_with("rest-echo: not healthy: ")) << done.finished.errors;
  EXPECT_EQ(line_count(done.finished.errors), 1U) << done.finished.errors;
  EXPECT_NE(done.finished.errors.find(why), std::string::npos) << done.finished.errors;
  EXPECT_LT(done.time, Milliseconds{kIsSanitized ? 6000 : 3000});
}

void expect_timed_out(const Check& done) {
  expect_ill(done, "timed out");
  EXPECT_GE(done.time, Milliseconds{900}) << "the server has a second";
}

/// Answers each connection with the same octets, one piece after another, and closes it.
class FakeServer {
 public:
  explicit FakeServer(std::vector<std::string> pieces, Milliseconds pause = Milliseconds{0})
      : pieces_(std::move(pieces)), pause_(pause), thread_([this] { serve(); }) {}
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;
  ~FakeServer() { stop(); }

  [[nodiscard]] std::uint16_t port() const { return port_of(listener_); }
  /// The last request. Stops.
  [[nodiscard]] const std::string& request() {
    stop();
    return request_;
  }

 private:
  void serve() {
    for (;;) {
      const net::UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!fd.is_open()) return;
      request_.clear();
      std::array<char, 1024> piece{};
      while (request_.find("\r\n\r\n") == std::string::npos) {
        const ssize_t size = ::recv(fd.get(), piece.data(), piece.size(), 0);
        if (size <= 0) break;
        request_.append(piece.data(), static_cast<std::size_t>(size));
      }
      for (const std::string& text : pieces_) {
        if (::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL) <= 0) break;
        std::this_thread::sleep_for(pause_);
      }
    }
  }
  void stop() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
  }

  std::vector<std::string> pieces_;
  Milliseconds pause_;
  net::UniqueFd listener_ = listen_on_loopback();
  std::string request_;
  std::thread thread_;
};

TEST(Healthcheck, IsZeroWhileTheServerIsWell) {
  const Server server;
  const std::string port = std::to_string(server.port());
  expect_healthy(check({"--healthcheck", "--port", port}));
  expect_healthy(check({"--port", port, "--healthcheck"}));
  expect_healthy(check({"--healthcheck"}, {"PORT=" + port}));
  expect_healthy(check({"--healthcheck"}, {"REST_ECHO_PORT=" + port, "PORT=1"}));
  expect_healthy(check({"--healthcheck=" + url_of(server.port())}));
  expect_healthy(check({"--healthcheck", url_of(server.port())}));
  expect_healthy(check({"--healthcheck=" + url_of(server.port(), "")}));
  expect_healthy(check({"--healthcheck=http://localhost:" + port + "/"}));
}

TEST(Healthcheck, TakesTheUrlsPortBeforeAnyOther) {
  const Server server;
  expect_healthy(check({"--healthcheck=" + url_of(server.port()), "--port", "1"}, {"PORT=2"}));
}

TEST(Healthcheck, AsksTheHostThatTheServerListensOn) {
  const Server server({"--host", "127.0.0.2"});
  const std::string port = std::to_string(server.port());
  expect_healthy(check({"--healthcheck", "--port", port, "--host", "127.0.0.2"}));
  expect_healthy(check({"--healthcheck", "--port", port}, {"REST_ECHO_HOST=127.0.0.2"}));
  expect_ill(check({"--healthcheck", "--port", port}), "127.0.0.1:" + port);
}

TEST(Healthcheck, SpeaksIpv6) {
  const Server any;
  if (!can_connect(any.port(), "::1")) GTEST_SKIP() << "no IPv6 here";
  const Server server({"--host", "::1"});
  const std::string port = std::to_string(server.port());
  expect_healthy(check({"--healthcheck=http://[::1]:" + port + "/healthz"}));
  expect_healthy(check({"--healthcheck", "--port", port, "--host", "::1"}));
  expect_healthy(check({"--healthcheck", "--port", std::to_string(any.port()), "--host", "::"}));
  expect_ill(check({"--healthcheck=" + url_of(server.port())}));
}

TEST(Healthcheck, SpeaksByWayOfAUnixSocket) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("socket");
  expect_ill(check({"--healthcheck", "--unix", path}), path + ": No such file");
  {
    Process server({.command = {server_program(), "--unix", path}});
    expect_listening(server);
    expect_healthy(check({"--healthcheck", "--unix", path}));
    expect_healthy(check({"--healthcheck"}, {"REST_ECHO_UNIX=" + path}));
    server.send_signal(SIGKILL);
    EXPECT_EQ(server.wait_for_end(), 128 + SIGKILL);
  }
  expect_ill(check({"--healthcheck", "--unix", path}), path + ": Connection refused");
}

// Never another socket, whose path is the beginning of this one.
TEST(Healthcheck, RefusesAPathThatIsTooLong) {
  const TemporaryDirectory directory;
  constexpr std::size_t kSizeMax = sizeof(sockaddr_un{}.sun_path) - 1;
  const std::string name(kSizeMax - directory.file("").size(), 'x');
  Process server({.command = {server_program(), "--unix", directory.file(name)}});
  expect_listening(server);
  expect_healthy(check({"--healthcheck", "--unix", directory.file(name)}));
  expect_ill(check({"--healthcheck", "--unix", directory.file(name + "x")}), "name too long");
}

TEST(Healthcheck, IsOneWhereNobodyListens) {
  const std::uint16_t port = find_free_port();
  expect_ill(check({"--healthcheck=" + url_of(port)}), fmt::format("127.0.0.1:{}: Connection refused", port));
  expect_ill(check({"--healthcheck"}, {"PORT=" + std::to_string(port)}), std::to_string(port));
}

TEST(Healthcheck, IsOneAfterASecondWithoutAnswer) {
  const net::UniqueFd listener = listen_on_loopback();
  expect_timed_out(check({"--healthcheck=" + url_of(port_of(listener))}));
}

TEST(Healthcheck, IsOneAfterASecondOfAnAnswerThatDoesNotEnd) {
  const FakeServer server(std::vector<std::string>(12, "H"), Milliseconds{200});
  expect_timed_out(check({"--healthcheck=" + url_of(server.port())}));
}

TEST(Healthcheck, IsOneAfterASecondWithoutConnection) {
  const net::UniqueFd listener = listen_on_loopback(0);
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
  std::vector<net::UniqueFd> waiting;
  for (bool is_full = false; !is_full;) {
    ASSERT_LT(waiting.size(), 64U);
    waiting.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    ::connect(waiting.back().get(), reinterpret_cast<const sockaddr*>(&address), size);
    pollfd connected{.fd = waiting.back().get(), .events = POLLOUT, .revents = 0};
    is_full = ::poll(&connected, 1, 500) == 0;
  }
  expect_timed_out(check({"--healthcheck=" + url_of(port_of(listener))}));
}

TEST(Healthcheck, IsOneWhereAUnixSocketIsFull) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("socket");
  const net::UniqueFd listener = bind_to_path(path, SOCK_STREAM, 0);
  const net::UniqueFd waiting = connect_to_path(path);
  expect_ill(check({"--healthcheck", "--unix", path}));
}

TEST(Healthcheck, GoesByTheStatusCode) {
  struct Row {
    std::vector<std::string> answer;
    bool is_healthy;
  };
  const std::vector<Row> rows{
      {{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}, true},
      {{"HTTP/1.0 200 OK\r\n\r\n"}, true},
      {{"HTTP/1.1 200 \r\n\r\n"}, true},
      {{"HTTP", "/1.1 2", "00", " OK\r\n\r\n"}, true},
      {{"HTTP/1.1 503 Service Unavailable\r\n\r\n"}, false},
      {{"HTTP/1.1 204 No Content\r\n\r\n"}, false},
      {{"HTTP/1.1 302 Found\r\n\r\n"}, false},
      {{"HTTP/1.1 404 Not Found\r\n\r\n"}, false},
      {{"HTTP/1.1 20 OK\r\n\r\n"}, false},
      {{"HTTP/2 200\r\n\r\nxxxx"}, false},
      {{"SSH-2.0-Open 200\r\n"}, false},
      {{"HTTP/1.1 20"}, false},
      {{}, false},
      {{"\x1b[31m\r\nrest-echo: all is well\n 200"}, false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.answer.empty() ? "(nothing)" : row.answer.front());
    const FakeServer server(row.answer, Milliseconds{row.answer.size() > 1 ? 20 : 0});
    const Check done = check({"--healthcheck=" + url_of(server.port())});
    row.is_healthy ? expect_healthy(done) : expect_ill(done);
    EXPECT_EQ(done.finished.errors.find('\x1b'), std::string::npos) << "what a stranger says is not repeated";
  }
}

TEST(Healthcheck, AsksForThePathOfItsUrl) {
  const std::string ok = "HTTP/1.1 200 OK\r\n\r\n";
  for (const auto& [rest, target] : std::vector<std::pair<std::string, std::string>>{
           {"", "/healthz"}, {"/", "/"}, {"/ready?full=1", "/ready?full=1"}}) {
    SCOPED_TRACE(rest);
    FakeServer server({ok});
    const std::uint16_t port = server.port();
    expect_healthy(check({"--healthcheck=" + url_of(port, rest)}));
    const std::string request = server.request();
    EXPECT_TRUE(request.starts_with("GET " + target + " HTTP/1.1\r\n")) << request;
    EXPECT_NE(request.find(fmt::format("\r\nHost: 127.0.0.1:{}\r\n", port)), std::string::npos) << request;
    EXPECT_TRUE(request.ends_with("\r\nConnection: close\r\n\r\n")) << request;
  }
}

TEST(Healthcheck, ReadsUrls) {
  struct Row {
    std::string url;
    std::string host;
    std::uint16_t port;
    std::string path;
  };
  const std::vector<Row> rows{
      {"http://127.0.0.1:3000/healthz", "127.0.0.1", 3000, "/healthz"},
      {"http://127.0.0.1:3000", "127.0.0.1", 3000, "/healthz"},
      {"http://127.0.0.1", "127.0.0.1", 80, "/healthz"},
      {"http://127.0.0.1/", "127.0.0.1", 80, "/"},
      {"http://localhost/a/b?c=d:e", "127.0.0.1", 80, "/a/b?c=d:e"},
      {"http://[::1]:8080/x", "::1", 8080, "/x"},
      {"http://[::1]", "::1", 80, "/healthz"},
      {"http://[fe80::1:2]/", "fe80::1:2", 80, "/"},
      {"http://10.0.0.1:65535/", "10.0.0.1", 65535, "/"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.url);
    app::HealthcheckTarget target;
    EXPECT_TRUE(app::read_healthcheck_url(row.url, target));
    EXPECT_EQ(target.host, row.host);
    EXPECT_EQ(target.port, row.port);
    EXPECT_EQ(target.path, row.path);
    EXPECT_EQ(target.unix_path, "");
  }
}

TEST(Healthcheck, RefusesWhatIsNoSuchUrl) {
  for (const std::string url : {
           "x",
           "127.0.0.1:3000",
           "/healthz",
           "https://127.0.0.1/",
           "ftp://127.0.0.1/",
           "http:/127.0.0.1/",
           "http://",
           "http:///healthz",
           "http://:3000/",
           "http://example.com/",
           "http://user@127.0.0.1/",
           "http://127.0.0.1:/",
           "http://127.0.0.1:x/",
           "http://127.0.0.1:+1/",
           "http://127.0.0.1:-1/",
           "http://127.0.0.1:1x/",
           "http://127.0.0.1:65536/",
           "http://127.0.0.1:80:80/",
           "http://127.0.0.256/",
           "http://127.0.0.1?x",
           "http://::1/",
           "http://::1:3000/",
           "http://[::1/",
           "http://::1]/",
           "http://[127.0.0.1]/",
           "http://[]/",
           "http://[::1]x/",
           "http://127.0.0.1/a b",
           "http://127.0.0.1/a\r\nHost: evil",
           "http://127.0.0.1/a\tb",
           "http://127.0.0.1/\x01",
           "http://127.0.0.1/\x7f",
           "http://127.0.0.1/\xc3\xa9",
           "http://127.0.0.1/#part",
       }) {
    SCOPED_TRACE(url);
    app::HealthcheckTarget target;
    EXPECT_FALSE(app::read_healthcheck_url(url, target));
  }
}

TEST(Healthcheck, IsTwoForAWrongUrl) {
  for (const std::string url :
       {"nonsense", "https://127.0.0.1/", "http://example.com/", "http://127.0.0.1:x/"}) {
    SCOPED_TRACE(url);
    const Check done = check({"--healthcheck=" + url});
    EXPECT_EQ(done.finished.status, 2);
    EXPECT_EQ(done.finished.output, "");
    EXPECT_NE(done.finished.errors.find("'" + url + "' is not http://"), std::string::npos)
        << done.finished.errors;
  }
}

// A request in flight keeps the process; nobody new is to be sent there.
class Draining : public testing::TestWithParam<std::string> {};

TEST_P(Draining, IsNotHealthy) {
  Server server({"--workers", GetParam(), "--grace-period", "60s"});
  const std::string url = "--healthcheck=" + url_of(server.port());
  expect_healthy(check({url}));
  Client slow(server.port());
  ASSERT_TRUE(
      slow.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"));
  ASSERT_EQ(slow.receive().status, 100);
  server.process().send_signal(SIGTERM);
  EXPECT_TRUE(eventually([&] { return check({url}).finished.status == 1; }));
  expect_ill(check({url}));
  ASSERT_TRUE(slow.send("{}"));
  EXPECT_EQ(slow.receive().status, 200) << "until then it was there";
  EXPECT_EQ(server.wait_for_end(), 0);
}
INSTANTIATE_TEST_SUITE_P(Workers, Draining, testing::Values("1", "2"));

}  // namespace
}  // namespace rest_echo::e2e
