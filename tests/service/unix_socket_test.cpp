// `--unix PATH`: served by way of a file, and what becomes of that file.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "e2e/client.hpp"
#include "e2e/requests.hpp"
#include "e2e/server.hpp"
#include "service/sockets.hpp"
#include "service/text.hpp"

namespace rest_echo::e2e {
namespace {

constexpr std::size_t kPathSizeMax = sizeof(sockaddr_un{}.sun_path) - 1;

class UnixSocket : public testing::Test {
 protected:
  [[nodiscard]] Launch launch(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {server_program(), "--unix", path_});
    return {.command = std::move(more)};
  }
  [[nodiscard]] bool is_there() const {
    return std::filesystem::exists(std::filesystem::symlink_status(path_));
  }
  [[nodiscard]] bool is_served() const { return ask_at_path(path_).ends_with("\r\n\r\nHello World"); }
  // It does not start, says why, and what was there is still there.
  void expect_refusal(const std::string& path, const std::string& why) const {
    const Finished finished = run_server({"--unix", path});
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(finished.output, "");
    EXPECT_TRUE(finished.errors.starts_with("rest-echo: cannot listen on " + path + ": ")) << finished.errors;
    EXPECT_TRUE(contains(finished.errors, why)) << finished.errors;
    EXPECT_EQ(line_count(finished.errors), 1U) << finished.errors;
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.file("socket");
};

TEST_F(UnixSocket, IsListenedOnInsteadOfAPort) {
  Process server(launch());
  expect_listening(server);
  EXPECT_TRUE(contains(server.output(), "Listening on unix:" + path_ + "\n")) << server.output();
  EXPECT_FALSE(contains(server.output(), "port")) << server.output();
  EXPECT_TRUE(is_served());
}

TEST_F(UnixSocket, ComesFromTheEnvironmentToo) {
  Process server({.command = {server_program()}, .environment = {"REST_ECHO_UNIX=" + path_}});
  expect_listening(server);
  EXPECT_TRUE(is_served());
}

TEST_F(UnixSocket, IsListenedOnBesideAPortThatIsAskedFor) {
  Server server({"--unix", path_});  // with --port 0
  EXPECT_TRUE(is_served());
  EXPECT_EQ(Client(server.port()).ask(kGet).content, kHello);
  EXPECT_EQ(server.stop(), 0);
  EXPECT_FALSE(is_there());
}

TEST_F(UnixSocket, ServesCurl) {
  if (!has_program("curl")) GTEST_SKIP() << "no curl here";
  Process server(launch());
  expect_listening(server);
  const Finished posted =
      run({.command = {"curl", "--silent", "--show-error", "--max-time", "20", "--unix-socket", path_,
                       "--data-binary", std::string("@") + source_file("body.json"), "--write-out",
                       " %{http_code} %{num_connects};", "http://localhost/a", "--next", "--silent",
                       "--unix-socket", path_, "http://localhost/b"}});
  EXPECT_EQ(posted.status, 0) << posted.errors;
  EXPECT_TRUE(contains(posted.output, " 200 1;")) << posted.output;
  EXPECT_TRUE(posted.output.starts_with("{\"colors\":[")) << posted.output;
  EXPECT_TRUE(posted.output.ends_with("Hello World")) << posted.output;
}

TEST_F(UnixSocket, ServesH2load) {
  if (!has_program("h2load")) GTEST_SKIP() << "no h2load here";
  Process server(launch({"--workers", "2"}));
  expect_listening(server);
  const Finished loaded = run(
      {.command = {"h2load", "--h1", "-n", "2000", "-c", "8", "-B", "unix:" + path_, "http://localhost/"}});
  EXPECT_EQ(loaded.status, 0) << loaded.errors;
  EXPECT_TRUE(contains(loaded.output, "2000 succeeded, 0 failed, 0 errored, 0 timeout")) << loaded.output;
  EXPECT_TRUE(contains(loaded.output, "status codes: 2000 2xx")) << loaded.output;
}

TEST_F(UnixSocket, TakesLargeDocuments) {
  Process server(launch());
  expect_listening(server);
  const std::string document = numbered_document(7, 900'000);
  const std::string answer = exchange(connect_to_path(path_), post(document, "Connection: close\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n" + document)) << answer.substr(0, 200);
}

TEST_F(UnixSocket, IsSharedByTheWorkers) {
  Process server(launch({"--workers", "3"}));
  expect_listening(server);
  std::vector<net::UniqueFd> held;
  for (int i = 0; i < 60; ++i) held.push_back(connect_to_path(path_));
  const auto is_spread = [&] {
    std::vector<std::size_t> counts;
    for (const pid_t worker : children_of(server.pid())) counts.push_back(descriptor_count(worker));
    return counts.size() == 3 && std::ranges::min(counts) >= 20;
  };
  EXPECT_TRUE(eventually(is_spread)) << "twenty for each, or nearly so, and a few of its own";
  for (const net::UniqueFd& fd : held) {
    EXPECT_TRUE(
        exchange(fd, "GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").ends_with("Hello World"));
  }
}

TEST_F(UnixSocket, OutlivesARollingRestart) {
  Process server(launch({"--workers", "2"}));
  expect_listening(server);
  const std::vector<pid_t> before = children_of(server.pid());
  server.send_signal(SIGHUP);
  const auto are_all_new = [&] {
    EXPECT_TRUE(is_served());
    const std::vector<pid_t> now = children_of(server.pid());
    return now.size() == 2 && have_nothing_in_common(now, before);
  };
  EXPECT_TRUE(eventually(are_all_new));
  EXPECT_TRUE(is_there());
  server.send_signal(SIGTERM);
  EXPECT_EQ(server.wait_for_end(), 0);
  EXPECT_FALSE(is_there());
  expect_no_complaint(server);
}

class UnixSocketAtTheEnd : public UnixSocket, public testing::WithParamInterface<std::string> {};

TEST_P(UnixSocketAtTheEnd, IsRemoved) {
  for (const int signal : {SIGTERM, SIGINT}) {
    SCOPED_TRACE(signal);
    Process server(launch({"--workers", GetParam()}));
    expect_listening(server);
    EXPECT_TRUE(is_served());
    server.send_signal(signal);
    EXPECT_EQ(server.wait_for_end(), 0);
    EXPECT_FALSE(is_there());
    expect_no_complaint(server);
  }
}

TEST_P(UnixSocketAtTheEnd, IsRemovedWhenASecondSignalEndsItAtOnce) {
  Process server(launch({"--workers", GetParam(), "--grace-period", "60s"}));
  expect_listening(server);
  const net::UniqueFd slow = connect_to_path(path_);
  constexpr std::string_view kBegun = "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\n";
  ASSERT_EQ(::send(slow.get(), kBegun.data(), kBegun.size(), 0), static_cast<ssize_t>(kBegun.size()));
  EXPECT_TRUE(is_served());
  server.send_signal(SIGTERM);
  EXPECT_TRUE(eventually([this] { return !can_connect_to_path(path_); }));
  const auto has_ended = [&server] {
    server.send_signal(SIGTERM);
    return server.wait_for_end(Milliseconds{200}).has_value();
  };
  EXPECT_TRUE(eventually(has_ended));
  EXPECT_EQ(server.wait_for_end(Milliseconds{0}), 128 + SIGTERM);
  EXPECT_FALSE(is_there());
  expect_no_complaint(server);
}
INSTANTIATE_TEST_SUITE_P(Workers, UnixSocketAtTheEnd, testing::Values("1", "2"));

// What a server leaves that was killed.
TEST_F(UnixSocket, IsReplacedWhereNobodyListensAnyMore) {
  {
    Process killed(launch());
    expect_listening(killed);
    killed.send_signal(SIGKILL);
    EXPECT_EQ(killed.wait_for_end(), 128 + SIGKILL);
  }
  ASSERT_TRUE(is_there());
  EXPECT_FALSE(can_connect_to_path(path_));
  Process server(launch());
  expect_listening(server);
  EXPECT_TRUE(is_served());
  server.send_signal(SIGTERM);
  EXPECT_EQ(server.wait_for_end(), 0);
  EXPECT_FALSE(is_there());
}

TEST_F(UnixSocket, IsNotTakenFromALiveServer) {
  Process first(launch());
  expect_listening(first);
  expect_refusal(path_, "Address already in use");
  EXPECT_TRUE(is_served()) << "the first one goes on";
}

TEST_F(UnixSocket, IsNotTakenFromAStranger) {
  const net::UniqueFd stranger = bind_to_path(path_, SOCK_STREAM, 0);
  const net::UniqueFd waiting = connect_to_path(path_);  // its backlog is full now
  expect_refusal(path_, "Address already in use");
  EXPECT_TRUE(is_there());
}

TEST_F(UnixSocket, IsNotTakenFromADatagramSocket) {
  const net::UniqueFd stranger = bind_to_path(path_, SOCK_DGRAM);
  expect_refusal(path_, "Address already in use");
  EXPECT_TRUE(is_there());
}

TEST_F(UnixSocket, NeverReplacesAnythingElse) {
  std::ofstream(path_) << "precious";
  expect_refusal(path_, "File exists");
  EXPECT_EQ(read_file(path_), "precious");

  const std::string directory = directory_.file("directory");
  std::filesystem::create_directory(directory);
  expect_refusal(directory, "File exists");
  EXPECT_TRUE(std::filesystem::is_directory(directory));

  const std::string link = directory_.file("link");
  std::filesystem::create_symlink(directory_.file("nothing"), link);
  expect_refusal(link, "File exists");
  EXPECT_TRUE(std::filesystem::is_symlink(link));

  const std::string fifo = directory_.file("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  expect_refusal(fifo, "File exists");
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
}

TEST_F(UnixSocket, IsRefusedWhereThereIsNoDirectory) {
  expect_refusal(directory_.file("none/socket"), "No such file or directory");
}

TEST_F(UnixSocket, HasALongestPath) {
  const std::string longest = directory_.file(std::string(kPathSizeMax - directory_.file("").size(), 'x'));
  {
    Process server({.command = {server_program(), "--unix", longest}});
    expect_listening(server);
    EXPECT_TRUE(ask_at_path(longest).ends_with("Hello World"));
    server.send_signal(SIGTERM);
    EXPECT_EQ(server.wait_for_end(), 0);
  }
  expect_refusal(longest + "x", "File name too long");
  expect_refusal(longest + std::string(1000, 'x'), "File name too long");
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

// A newer server has the path: the older one, when it ends, removes nothing.
TEST_F(UnixSocket, IsLeftToWhoeverHasItNow) {
  Process older(launch());
  expect_listening(older);
  std::filesystem::remove(path_);
  Process newer(launch());
  expect_listening(newer);
  older.send_signal(SIGTERM);
  EXPECT_EQ(older.wait_for_end(), 0);
  EXPECT_TRUE(is_served());
}

// Whoever may write to it may connect: by the umask as usual, and never the world unless it says so.
TEST_F(UnixSocket, HasThePermissionsThatTheUmaskLeaves) {
  for (const auto& [mask, mode] :
       std::vector<std::pair<std::string, mode_t>>{{"022", 0755}, {"077", 0700}, {"007", 0770}}) {
    SCOPED_TRACE(mask);
    Process server({.command = {"sh", "-c", "umask " + mask + R"(; exec "$@")", "sh", server_program(),
                                "--unix", path_}});
    expect_listening(server);
    struct stat file {};
    ASSERT_EQ(::lstat(path_.c_str(), &file), 0);
    EXPECT_TRUE(S_ISSOCK(file.st_mode));
    EXPECT_EQ(file.st_mode & 07777, mode);
    server.send_signal(SIGTERM);
    EXPECT_EQ(server.wait_for_end(), 0);
  }
}

TEST_F(UnixSocket, IsRemovedWhereThePortIsTaken) {
  const net::UniqueFd stranger = listen_on_loopback();
  const Finished finished =
      run_server({"--unix", path_, "--host", "127.0.0.1", "--port", std::to_string(port_of(stranger))});
  EXPECT_EQ(finished.status, 1);
  EXPECT_FALSE(is_there());
}

}  // namespace
}  // namespace rest_echo::e2e
