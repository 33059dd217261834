#include "e2e/client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace rest_echo::e2e {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

void set_option(int fd, int level, int name, int value) {
  if (::setsockopt(fd, level, name, &value, sizeof value) != 0) fail("setsockopt");
}

bool wait_for(int fd, short events, Clock::time_point deadline) {
  const auto left = std::chrono::ceil<Milliseconds>(deadline - Clock::now());
  pollfd watched{.fd = fd, .events = events, .revents = 0};
  return ::poll(&watched, 1, static_cast<int>(std::max<Milliseconds::rep>(left.count(), 0))) > 0;
}

net::UniqueFd connect_to(std::uint16_t port, const ClientOptions& options) {
  sockaddr_in ipv4{};
  sockaddr_in6 ipv6{};
  ipv4.sin_family = AF_INET;
  ipv4.sin_port = htons(port);
  ipv6.sin6_family = AF_INET6;
  ipv6.sin6_port = htons(port);
  const bool is_ipv4 = ::inet_pton(AF_INET, options.host.c_str(), &ipv4.sin_addr) == 1;
  if (!is_ipv4) ::inet_pton(AF_INET6, options.host.c_str(), &ipv6.sin6_addr);
  net::UniqueFd fd(::socket(is_ipv4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) fail("socket");
  // Both only count before the connection is made.
  if (options.receive_buffer_size > 0)
    set_option(fd.get(), SOL_SOCKET, SO_RCVBUF, options.receive_buffer_size);
  if (options.segment_size_max > 0) set_option(fd.get(), IPPROTO_TCP, TCP_MAXSEG, options.segment_size_max);
  const int error = is_ipv4 ? ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&ipv4), sizeof ipv4)
                            : ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&ipv6), sizeof ipv6);
  if (error != 0) fail("connect to " + options.host + " port " + std::to_string(port));
  set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  return fd;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, {}, [](char c) { return std::tolower(c); }, [](char c) { return std::tolower(c); });
}

}  // namespace

std::string Response::field(std::string_view name) const {
  for (std::size_t line = head.find("\r\n"); line != std::string::npos;) {
    line += 2;
    const std::size_t end = head.find("\r\n", line);
    const std::size_t colon = head.find(": ", line);
    if (end == std::string::npos || colon == std::string::npos) break;
    if (colon < end && equals_ignoring_case(std::string_view(head).substr(line, colon - line), name)) {
      return head.substr(colon + 2, end - colon - 2);
    }
    line = end;
  }
  return "";
}

Client::Client(std::uint16_t port, const ClientOptions& options) : fd_(connect_to(port, options)) {}

bool Client::send(std::string_view octets, Milliseconds patience) {
  for (const Clock::time_point deadline = Clock::now() + patience; !octets.empty();) {
    const std::size_t size = send_some(octets);
    octets.remove_prefix(size);
    if (size == 0 && (errno != EAGAIN || !wait_for(fd_.get(), POLLOUT, deadline))) return false;
  }
  return true;
}

std::size_t Client::send_some(std::string_view octets) {
  errno = 0;
  const ssize_t size = ::send(fd_.get(), octets.data(), octets.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return size > 0 ? static_cast<std::size_t>(size) : 0;
}

void Client::finish_sending() { ::shutdown(fd_.get(), SHUT_WR); }

void Client::reset() {
  const ::linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  fd_ = net::UniqueFd();
}

Client::Read Client::read_within(Milliseconds patience) {
  if (!wait_for(fd_.get(), POLLIN, Clock::now() + patience)) return Read::none;
  std::array<char, 65536> piece;
  const ssize_t size = ::recv(fd_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
  if (size < 0) return errno == EAGAIN ? Read::none : Read::reset;
  received_.append(piece.data(), static_cast<std::size_t>(size));
  return size > 0 ? Read::some : Read::end;
}

Response Client::receive(bool has_content, Milliseconds patience) {
  Response response;
  const Clock::time_point deadline = Clock::now() + patience;
  const auto has = [&](std::size_t size) {
    while (received_.size() < size) {
      const auto left = std::chrono::ceil<Milliseconds>(deadline - Clock::now());
      if (left.count() <= 0 || read_within(left) > Read::none) return false;
    }
    return true;
  };
  std::size_t head_end = 0;
  while ((head_end = received_.find("\r\n\r\n")) == std::string::npos) {
    if (!has(received_.size() + 1)) return {};
  }
  response.head = received_.substr(0, head_end + 4);
  const std::string length = response.field("Content-Length");
  const std::size_t size = has_content && !length.empty() ? std::stoull(length) : 0;
  if (!has(response.head.size() + size)) return {};
  response.content = received_.substr(response.head.size(), size);
  received_.erase(0, response.head.size() + size);
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  if (response.head.starts_with(kVersion))
    response.status = std::atoi(response.head.c_str() + kVersion.size());
  return response;
}

End Client::wait_for_end(Milliseconds patience) {
  for (const Clock::time_point deadline = Clock::now() + patience; Clock::now() < deadline;) {
    switch (read_within(std::chrono::ceil<Milliseconds>(deadline - Clock::now()))) {
      case Read::some:
      case Read::none: break;
      case Read::end: return End::finished;
      case Read::reset: return End::reset;
    }
  }
  return End::goes_on;
}

bool Client::has_received_within(Milliseconds patience) {
  return !received_.empty() || read_within(patience) == Read::some;
}

std::size_t Client::discard_some(std::size_t size_max) {
  std::string discarded(size_max, '\0');
  const ssize_t size = ::recv(fd_.get(), discarded.data(), size_max, MSG_DONTWAIT);
  return size > 0 ? static_cast<std::size_t>(size) : 0;
}

bool can_connect(std::uint16_t port, const std::string& host) {
  try {
    const Client client(port, {.host = host});
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace rest_echo::e2e
