#include "rest_echo/app/healthcheck.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <optional>
#include <string_view>

#include "rest_echo/net/log.hpp"
#include "rest_echo/net/socket.hpp"
#include "rest_echo/net/unique_fd.hpp"

namespace rest_echo::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLimit{1000};
constexpr std::string_view kScheme = "http://";

// Waits until the descriptor is ready or time is up; errno says what went wrong.
bool wait_for(int fd, short events, Clock::time_point end) {
  const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
  pollfd waited{.fd = fd, .events = events, .revents = 0};
  const int count = rest.count() > 0 ? ::poll(&waited, 1, static_cast<int>(rest.count())) : 0;
  if (count == 0) errno = ETIMEDOUT;
  return count > 0;
}

net::UniqueFd connect_to(const net::SocketAddress& address, Clock::time_point end) {
  net::UniqueFd fd(::socket(address.get()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return fd;
  if (::connect(fd.get(), address.get(), address.size) == 0) return fd;
  if (errno != EINPROGRESS || !wait_for(fd.get(), POLLOUT, end)) return net::UniqueFd();
  socklen_t error_size = sizeof errno;
  ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &errno, &error_size);
  return errno == 0 ? std::move(fd) : net::UniqueFd();
}

net::UniqueFd connect_to(const HealthcheckTarget& target, Clock::time_point end) {
  if (!target.unix_path.empty()) {
    const std::optional<net::SocketAddress> address = net::unix_address(target.unix_path);
    if (!address) {
      errno = ENAMETOOLONG;
      return net::UniqueFd();
    }
    return connect_to(*address, end);
  }
  const std::optional<net::SocketAddress> address = net::read_address(target.host, target.port);
  if (!address) {
    errno = EINVAL;
    return net::UniqueFd();
  }
  return connect_to(*address, end);
}

// host[:port] as a URL has it
std::string format_authority(const HealthcheckTarget& target) {
  const bool is_ipv6 = target.host.find(':') != std::string::npos;
  return is_ipv6 ? fmt::format("[{}]:{}", target.host, target.port)
                 : fmt::format("{}:{}", target.host, target.port);
}

int fail(const HealthcheckTarget& target, std::string_view why) {
  net::log_line(fmt::format("not healthy: {}: {}",
                            target.unix_path.empty() ? format_authority(target) : target.unix_path, why));
  return 1;
}

// ADDRESS or [ADDRESS], whichever that kind of address is written as; `localhost` for 127.0.0.1.
bool read_host(std::string_view text, std::string& host) {
  if (text == "localhost") text = "127.0.0.1";
  const bool is_bracketed = text.starts_with('[') && text.ends_with(']');
  host = is_bracketed ? text.substr(1, text.size() - 2) : text;
  return net::is_numeric_host(host) && is_bracketed == (host.find(':') != std::string::npos);
}

// What a request-target may consist of; a fragment is no part of it (RFC 9112 §3.2).
bool is_target_octet(char octet) { return octet > ' ' && octet <= '~' && octet != '#'; }

}  // namespace

bool read_healthcheck_url(const std::string& url, HealthcheckTarget& target) {
  if (!url.starts_with(kScheme)) return false;
  const std::string rest = url.substr(kScheme.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  std::string authority = rest.substr(0, slash);
  target.path = slash < rest.size() ? rest.substr(slash) : "/healthz";
  target.port = 80;
  const std::size_t colon = authority.rfind(':');
  if (colon != std::string::npos && authority.find(']', colon) == std::string::npos) {
    const char* const end = authority.data() + authority.size();
    const auto [rest_of_port, error] = std::from_chars(authority.data() + colon + 1, end, target.port);
    if (error != std::errc{} || rest_of_port != end) return false;
    authority.resize(colon);
  }
  return read_host(authority, target.host) && std::ranges::all_of(target.path, is_target_octet);
}

int check_health(const HealthcheckTarget& target) {
  const Clock::time_point end = Clock::now() + kLimit;
  const net::UniqueFd fd = connect_to(target, end);
  if (!fd.is_open()) return fail(target, std::strerror(errno));
  const std::string request = fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
                                          target.path, format_authority(target));
  if (::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    return fail(target, std::strerror(errno));
  }
  // The status line is all that matters: "HTTP/1.1 200 ".
  constexpr std::size_t kStatusEnd = 12;
  std::array<char, 256> answer{};
  std::size_t size = 0;
  while (size < kStatusEnd) {
    if (!wait_for(fd.get(), POLLIN, end)) return fail(target, std::strerror(errno));
    const ssize_t received = ::recv(fd.get(), answer.data() + size, answer.size() - size, 0);
    if (received <= 0) return fail(target, "the connection was closed without an answer");
    size += static_cast<std::size_t>(received);
  }
  const std::string_view status_line(answer.data(), kStatusEnd);
  if (status_line.starts_with("HTTP/1.") && status_line.ends_with(" 200")) return 0;
  const bool is_printable = std::ranges::all_of(status_line, [](char c) { return c >= ' ' && c <= '~'; });
  return fail(target, is_printable ? fmt::format("the answer was '{}'", status_line) : "no HTTP was spoken");
}

}  // namespace rest_echo::app
