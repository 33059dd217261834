#include "service/sockets.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace rest_echo::e2e {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

net::UniqueFd open_socket(int family, int type) {
  net::UniqueFd fd(::socket(family, type | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) fail("socket");
  return fd;
}

struct PathAddress {
  sockaddr_un octets{};
  socklen_t size = 0;

  explicit PathAddress(const std::string& path) {
    if (path.empty() || path.size() >= sizeof octets.sun_path) throw std::length_error(path);
    octets.sun_family = AF_UNIX;
    path.copy(octets.sun_path, path.size());
    const bool is_abstract = path.front() == '@';
    if (is_abstract) octets.sun_path[0] = '\0';
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + (is_abstract ? 0 : 1));
  }
  [[nodiscard]] const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&octets); }
};

}  // namespace

TemporaryDirectory::TemporaryDirectory() : path_(testing::TempDir() + "rest_echo_XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) fail(path_);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

net::UniqueFd listen_on_loopback(int backlog) {
  net::UniqueFd fd = open_socket(AF_INET, SOCK_STREAM);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), backlog) != 0) {
    fail("listen on 127.0.0.1");
  }
  return fd;
}

std::uint16_t port_of(const net::UniqueFd& listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) fail("getsockname");
  return ntohs(address.sin_port);
}

net::UniqueFd bind_to_path(const std::string& path, int type, int backlog) {
  net::UniqueFd fd = open_socket(AF_UNIX, type);
  const PathAddress address(path);
  if (::bind(fd.get(), address.get(), address.size) != 0) fail("bind to " + path);
  if (type == SOCK_STREAM && ::listen(fd.get(), backlog) != 0) fail("listen on " + path);
  return fd;
}

net::UniqueFd connect_to_path(const std::string& path) {
  net::UniqueFd fd = open_socket(AF_UNIX, SOCK_STREAM);
  const PathAddress address(path);
  if (::connect(fd.get(), address.get(), address.size) != 0) fail("connect to " + path);
  return fd;
}

bool can_connect_to_path(const std::string& path) {
  try {
    return connect_to_path(path).is_open();
  } catch (const std::system_error&) {
    return false;
  }
}

std::string exchange(const net::UniqueFd& fd, std::string_view octets) {
  while (!octets.empty()) {
    const ssize_t size = ::send(fd.get(), octets.data(), octets.size(), MSG_NOSIGNAL);
    if (size < 0) fail("send");
    octets.remove_prefix(static_cast<std::size_t>(size));
  }
  std::string answer;
  std::array<char, 65536> piece;
  pollfd watched{.fd = fd.get(), .events = POLLIN, .revents = 0};
  while (::poll(&watched, 1, static_cast<int>(kPatience.count())) > 0) {
    const ssize_t size = ::recv(fd.get(), piece.data(), piece.size(), 0);
    if (size <= 0) return answer;
    answer.append(piece.data(), static_cast<std::size_t>(size));
  }
  return answer + "(and no end)";
}

std::string ask_at_path(const std::string& path, const std::string& target) {
  return exchange(connect_to_path(path),
                  "GET " + target + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
}

std::string get(const std::string& target) { return "GET " + target + " HTTP/1.1\r\nHost: test\r\n\r\n"; }

bool have_nothing_in_common(const std::vector<pid_t>& some, const std::vector<pid_t>& others) {
  return std::ranges::none_of(
      some, [&others](pid_t pid) { return std::ranges::find(others, pid) != others.end(); });
}

bool is_listening(const Process& process) {
  const std::string output = process.output();
  const std::size_t begin = output.find("Listening on ");
  return begin != std::string::npos && output.find('\n', begin) != std::string::npos;
}

void expect_listening(Process& process) {
  const auto is_settled = [&process] {
    return is_listening(process) || process.wait_for_end(Milliseconds{0}).has_value();
  };
  EXPECT_TRUE(eventually(is_settled) && is_listening(process)) << process.output() << process.errors();
}

void expect_no_complaint(const Process& process) {
  const std::string errors = process.errors();
  EXPECT_EQ(errors.find("Sanitizer"), std::string::npos) << errors;
  EXPECT_EQ(errors.find("runtime error"), std::string::npos) << errors;
}

}  // namespace rest_echo::e2e
