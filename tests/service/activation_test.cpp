// Socket activation: sockets that a service manager opens and hands over from descriptor 3 on.

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <csignal>
#include <fstream>
#include <memory>

#include "e2e/client.hpp"
#include "e2e/requests.hpp"
#include "e2e/server.hpp"
#include "service/sockets.hpp"
#include "service/text.hpp"

namespace rest_echo::e2e {
namespace {

/// How the server is started with these descriptors.
class Handover {
 public:
  explicit Handover(const std::vector<const net::UniqueFd*>& fds) {
    for (const net::UniqueFd* fd : fds) {
      constexpr int kFree = 50;  // above all that are handed over
      inheritable_.emplace_back(::fcntl(fd->get(), F_DUPFD, kFree));
    }
  }

  /// `listen_pid` and `listen_fds` as the shell is to read them.
  [[nodiscard]] Launch launch(std::vector<std::string> arguments, const std::string& listen_pid = "$$",
                              const std::string& listen_fds = "") const {
    const std::string count = listen_fds.empty() ? std::to_string(inheritable_.size()) : listen_fds;
    std::string script = fmt::format("export LISTEN_PID={} LISTEN_FDS={}; exec \"$@\"", listen_pid, count);
    int next = 3;
    for (const net::UniqueFd& fd : inheritable_) {
      script += fmt::format(" {}<&{} {}<&-", next++, fd.get(), fd.get());
    }
    constexpr int kOthersMax = 20;  // whoever runs the test may have left some open
    while (next < kOthersMax) script += fmt::format(" {}<&-", next++);
    arguments.insert(arguments.begin(), {"bash", "-c", script, "bash", server_program()});
    return {.command = std::move(arguments)};
  }

 private:
  std::vector<net::UniqueFd> inheritable_;
};

class Activation : public testing::TestWithParam<std::string> {
 protected:
  // Whatever stands for the command line's own port must not be touched.
  const std::vector<std::string> arguments_{"--workers", GetParam(), "--port", "1"};
};

TEST_P(Activation, ServesAnInheritedTcpSocket) {
  const net::UniqueFd listener = listen_on_loopback();
  Process server(Handover({&listener}).launch(arguments_));
  expect_listening(server);
  EXPECT_TRUE(contains(server.output(), fmt::format("Listening on port {}\n", port_of(listener))))
      << server.output();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<Client>(port_of(listener)));
    EXPECT_EQ(clients.back()->ask(kGet).content, kHello);
  }
  for (const auto& client : clients) EXPECT_EQ(client->ask(post("{}")).status, 200);
  clients.clear();
  server.send_signal(SIGTERM);
  EXPECT_EQ(server.wait_for_end(), 0);
  expect_no_complaint(server);
}

TEST_P(Activation, ServesAnInheritedUnixSocket) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("socket");
  const net::UniqueFd listener = bind_to_path(path);
  Process server(Handover({&listener}).launch(arguments_));
  expect_listening(server);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(ask_at_path(path).ends_with("Hello World"));
  server.send_signal(SIGTERM);
  EXPECT_EQ(server.wait_for_end(), 0);
  EXPECT_TRUE(can_connect_to_path(path)) << "the file is the service manager's";
  expect_no_complaint(server);
}

TEST_P(Activation, ServesSeveralSockets) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("socket");
  const net::UniqueFd first = listen_on_loopback();
  const net::UniqueFd second = bind_to_path(path);
  const net::UniqueFd third = listen_on_loopback();
  Process server(Handover({&first, &second, &third}).launch(arguments_));
  expect_listening(server);
  EXPECT_EQ(Client(port_of(first)).ask(kGet).content, kHello);
  EXPECT_TRUE(ask_at_path(path).ends_with("Hello World"));
  EXPECT_EQ(Client(port_of(third)).ask(kGet).content, kHello);
  server.send_signal(SIGTERM);
  EXPECT_EQ(server.wait_for_end(), 0);
  expect_no_complaint(server);
}

// That is what it is for: nobody is refused while the server is exchanged.
TEST_P(Activation, FindsWhoConnectedWhileItWasAway) {
  const net::UniqueFd listener = listen_on_loopback();
  Client early(port_of(listener));
  ASSERT_TRUE(early.send(kGet));
  {
    Process server(Handover({&listener}).launch(arguments_));
    expect_listening(server);
    EXPECT_EQ(early.receive().content, kHello);
    server.send_signal(SIGTERM);
    EXPECT_EQ(server.wait_for_end(), 0);
  }
  Client between(port_of(listener));
  ASSERT_TRUE(between.send(kGet));
  Process server(Handover({&listener}).launch(arguments_));
  EXPECT_EQ(between.receive().content, kHello);
}

TEST_P(Activation, TakesAUnixSocketOfItsOwnBeside) {
  const TemporaryDirectory directory;
  const net::UniqueFd listener = listen_on_loopback();
  const std::string path = directory.file("socket");
  Process server(Handover({&listener}).launch({"--workers", GetParam(), "--unix", path}));
  expect_listening(server);
  EXPECT_EQ(Client(port_of(listener)).ask(kGet).content, kHello);
  EXPECT_TRUE(ask_at_path(path).ends_with("Hello World"));
}

TEST_P(Activation, OutlivesARollingRestart) {
  if (GetParam() == "1") GTEST_SKIP() << "one worker cannot";
  const net::UniqueFd listener = listen_on_loopback();
  Process server(Handover({&listener}).launch(arguments_));
  expect_listening(server);
  const std::vector<pid_t> before = children_of(server.pid());
  server.send_signal(SIGHUP);
  const auto are_all_new = [&] {
    EXPECT_EQ(Client(port_of(listener)).ask(kGet).content, kHello);
    const std::vector<pid_t> now = children_of(server.pid());
    return now.size() == 2 && have_nothing_in_common(now, before);
  };
  EXPECT_TRUE(eventually(are_all_new));
}
INSTANTIATE_TEST_SUITE_P(Workers, Activation, testing::Values("1", "2"));

// They were meant for a process that this one descends from.
TEST(Activation, IgnoresWhatIsAnotherProcesss) {
  const net::UniqueFd listener = listen_on_loopback();
  const Handover handover({&listener});
  for (const auto& [pid, count] : std::vector<std::pair<std::string, std::string>>{{"1", "1"},
                                                                                   {"", "1"},
                                                                                   {"x", "1"},
                                                                                   {"$$x", "1"},
                                                                                   {"$$", "0"},
                                                                                   {"$$", "-1"},
                                                                                   {"$$", "one"},
                                                                                   {"$$", "''"}}) {
    SCOPED_TRACE("LISTEN_PID=" + pid + " LISTEN_FDS=" + count);
    Process server(handover.launch({"--port", "0"}, pid, count));
    expect_listening(server);
    const std::uint16_t port = find_port(server.output());
    ASSERT_NE(port, 0);
    EXPECT_NE(port, port_of(listener));
    EXPECT_EQ(Client(port).ask(kGet).content, kHello);
  }
}

class WrongDescriptor : public testing::TestWithParam<std::string> {
 protected:
  void expect_refusal(const std::vector<const net::UniqueFd*>& fds, int wrong, const std::string& why,
                      const std::string& count = "") {
    const Finished finished =
        run(Handover(fds).launch({"--workers", GetParam(), "--port", "0"}, "$$", count), kPatience);
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(finished.output, "");
    EXPECT_EQ(finished.errors, fmt::format("rest-echo: cannot listen on descriptor {}: {}\n", wrong, why));
  }

  net::UniqueFd listener_ = listen_on_loopback();
};

TEST_P(WrongDescriptor, IsAFile) {
  const net::UniqueFd file(::open("/dev/null", O_RDWR | O_CLOEXEC));
  expect_refusal({&file}, 3, "Socket operation on non-socket");
  expect_refusal({&listener_, &file}, 4, "Socket operation on non-socket");
}

TEST_P(WrongDescriptor, IsASocketThatDoesNotListen) {
  const net::UniqueFd tcp(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  expect_refusal({&tcp}, 3, "Invalid argument");
  const net::UniqueFd udp(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  expect_refusal({&listener_, &udp}, 4, "Invalid argument");
}

TEST_P(WrongDescriptor, IsNotThere) {
  expect_refusal({}, 3, "Bad file descriptor", "1");
  expect_refusal({&listener_}, 4, "Bad file descriptor", "2");
  expect_refusal({&listener_, &listener_}, 5, "Bad file descriptor", "5");
}
INSTANTIATE_TEST_SUITE_P(Workers, WrongDescriptor, testing::Values("1", "2"));

}  // namespace
}  // namespace rest_echo::e2e
