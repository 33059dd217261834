// Telling a service manager that the server is ready.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <csignal>

#include "e2e/client.hpp"
#include "e2e/requests.hpp"
#include "e2e/server.hpp"
#include "service/sockets.hpp"

namespace rest_echo::e2e {
namespace {

/// What a service manager listens on.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& path) : fd_(bind_to_path(path, SOCK_DGRAM)) {}

  /// The next message, or "" where none comes in time.
  [[nodiscard]] std::string receive(Milliseconds patience = kPatience) const {
    pollfd watched{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&watched, 1, static_cast<int>(patience.count())) <= 0) return "";
    std::array<char, 4096> text{};
    const ssize_t size = ::recv(fd_.get(), text.data(), text.size(), 0);
    return {text.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
  }

 private:
  net::UniqueFd fd_;
};

struct Case {
  std::string workers;
  bool is_abstract;
};

class Notify : public testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] Launch launch(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {server_program(), "--workers", GetParam().workers});
    return {.command = std::move(more), .environment = {"NOTIFY_SOCKET=" + path_}};
  }

  TemporaryDirectory directory_;
  std::string path_ = std::string(GetParam().is_abstract ? "@" : "") + directory_.file("notify");
  NotifySocket socket_{path_};
};

// The port is known beforehand: at the moment of the message a connection must succeed.
TEST_P(Notify, SaysReadyOnceItAccepts) {
  for (int round = 0; round < 5; ++round) {
    const std::string port = std::to_string(find_free_port());
    Process server(launch({"--port", port}));
    ASSERT_EQ(socket_.receive(), "READY=1") << server.output() << server.errors();
    EXPECT_EQ(Client(static_cast<std::uint16_t>(std::stoul(port))).ask(kGet).content, kHello);
    server.send_signal(SIGTERM);
    EXPECT_EQ(server.wait_for_end(), 0);
    EXPECT_EQ(socket_.receive(Milliseconds{0}), "") << "once is enough";
    expect_no_complaint(server);
  }
}

TEST_P(Notify, SaysReadyForAUnixSocketToo) {
  const std::string path = directory_.file("socket");
  Process server(launch({"--unix", path}));
  ASSERT_EQ(socket_.receive(), "READY=1");
  EXPECT_TRUE(ask_at_path(path).ends_with("Hello World"));
}

TEST_P(Notify, SaysNothingWhereItCannotListen) {
  const net::UniqueFd stranger = listen_on_loopback();
  Process server(launch({"--port", std::to_string(port_of(stranger))}));
  EXPECT_EQ(server.wait_for_end(), 1);
  EXPECT_EQ(socket_.receive(Milliseconds{0}), "");
}

TEST_P(Notify, IsNotRepeatedByARollingRestart) {
  if (GetParam().workers == "1") GTEST_SKIP() << "one worker cannot";
  Process server(launch({"--port", "0"}));
  ASSERT_EQ(socket_.receive(), "READY=1");
  const std::vector<pid_t> before = children_of(server.pid());
  server.send_signal(SIGHUP);
  const auto are_all_new = [&] {
    const std::vector<pid_t> now = children_of(server.pid());
    return now.size() == 2 && have_nothing_in_common(now, before);
  };
  EXPECT_TRUE(eventually(are_all_new));
  EXPECT_EQ(socket_.receive(Milliseconds{0}), "");
}
INSTANTIATE_TEST_SUITE_P(All, Notify,
                         testing::Values(Case{"1", false}, Case{"2", false}, Case{"1", true},
                                         Case{"2", true}),
                         [](const auto& tested) {
                           return std::string(tested.param.is_abstract ? "AbstractName" : "Path") +
                                  (tested.param.workers == "1" ? "OneWorker" : "TwoWorkers");
                         });

// Nobody to be told is no reason not to serve.
TEST(Notify, IsNoConditionForServing) {
  const TemporaryDirectory directory;
  for (const std::string& path :
       {directory.file("nobody"), std::string("relative"), std::string("@"), std::string("/"), std::string(),
        std::string("@nobody"), fmt::format("{:x<108}", "/"), fmt::format("{:x<5000}", "/")}) {
    SCOPED_TRACE(path);
    Server server({}, {.environment = {"NOTIFY_SOCKET=" + path}});
    EXPECT_EQ(Client(server.port()).ask(kGet).content, kHello);
    EXPECT_EQ(server.process().errors(), "");
    EXPECT_EQ(server.stop(), 0);
  }
}

}  // namespace
}  // namespace rest_echo::e2e
