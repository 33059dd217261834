#include "rest_echo/net/socket.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

namespace rest_echo::net {
namespace {

constexpr const char* kAnyIpv6 = "::";
constexpr const char* kAnyIpv4 = "0.0.0.0";

std::uint16_t bound_port(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return 0;
  if (storage.ss_family == AF_INET6) {
    sockaddr_in6 ipv6{};
    std::memcpy(&ipv6, &storage, sizeof ipv6);
    return ntohs(ipv6.sin6_port);
  }
  if (storage.ss_family != AF_INET) return 0;
  sockaddr_in ipv4{};
  std::memcpy(&ipv4, &storage, sizeof ipv4);
  return ntohs(ipv4.sin_port);
}

std::string format_address(const std::string& host, std::uint16_t port) {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

bool set_option(int fd, int level, int name, int value) {
  return ::setsockopt(fd, level, name, &value, sizeof value) == 0;
}

// `::` takes IPv4 along, unless that has an address of its own.
bool is_ipv6_only(const std::string& host, const ListenOptions& options) {
  const auto is_ipv4 = [](const std::string& other) { return other.find(':') == std::string::npos; };
  return host != kAnyIpv6 || std::ranges::any_of(options.hosts, is_ipv4);
}

// A listening socket, or errno.
Result<UniqueFd, int> open_listener(const std::string& host, std::uint16_t port,
                                    const ListenOptions& options) {
  const std::optional<SocketAddress> address = read_address(host, port);
  if (!address) return Failure{EINVAL};
  const int family = address->storage.ss_family;
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return Failure{errno};
  // Connections inherit TCP_NODELAY from the listening socket, which saves a call for each.
  const bool is_set = set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1) &&
                      set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1) &&
                      (!options.reuses_port || set_option(fd.get(), SOL_SOCKET, SO_REUSEPORT, 1)) &&
                      (family != AF_INET6 ||
                       set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, is_ipv6_only(host, options) ? 1 : 0));
  if (!is_set) return Failure{errno};
  if (::bind(fd.get(), address->get(), address->size) != 0 || ::listen(fd.get(), options.backlog) != 0) {
    return Failure{errno};
  }
  return fd;
}

bool means_no_ipv6(int error_number) { return error_number == EAFNOSUPPORT || error_number == EADDRNOTAVAIL; }

Result<Listeners, ListenError> try_to_listen_on(const ListenOptions& options) {
  std::vector<std::string> hosts = options.hosts;
  if (hosts.empty()) hosts.emplace_back(kAnyIpv6);
  Listeners listeners;
  listeners.port = options.port;
  for (std::string& host : hosts) {
    Result<UniqueFd, int> fd = open_listener(host, listeners.port, options);
    if (!fd && options.hosts.empty() && means_no_ipv6(fd.error())) {
      listeners.has_fallen_back_to_ipv4 = true;
      host = kAnyIpv4;
      fd = open_listener(host, listeners.port, options);
    }
    if (!fd) return Failure{ListenError{format_address(host, listeners.port), fd.error()}};
    if (listeners.port == 0) listeners.port = bound_port(fd.value().get());
    listeners.addresses.push_back(format_address(host, listeners.port));
    listeners.fds.push_back(std::move(fd.value()));
  }
  return listeners;
}

}  // namespace

std::optional<SocketAddress> read_address(const std::string& host, std::uint16_t port) {
  SocketAddress address;
  sockaddr_in ipv4{};
  if (::inet_pton(AF_INET, host.c_str(), &ipv4.sin_addr) == 1) {
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(port);
    std::memcpy(&address.storage, &ipv4, sizeof ipv4);
    address.size = sizeof ipv4;
    return address;
  }
  sockaddr_in6 ipv6{};
  if (::inet_pton(AF_INET6, host.c_str(), &ipv6.sin6_addr) == 1) {
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(port);
    std::memcpy(&address.storage, &ipv6, sizeof ipv6);
    address.size = sizeof ipv6;
    return address;
  }
  return std::nullopt;
}

std::optional<SocketAddress> unix_address(std::string_view path) noexcept {
  sockaddr_un octets{};
  if (path.empty() || path.size() >= sizeof octets.sun_path) return std::nullopt;
  octets.sun_family = AF_UNIX;
  path.copy(octets.sun_path, path.size());
  const std::size_t end_size = path.front() == '\0' ? 0 : 1;  // an abstract name has no NUL behind it
  SocketAddress address;
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + end_size);
  std::memcpy(&address.storage, &octets, sizeof octets);
  return address;
}

bool is_numeric_host(std::string_view host) noexcept {
  return read_address(std::string(host), 0).has_value();
}

Result<Listeners, ListenError> listen_on(const ListenOptions& options) {
  // A port that is free for one host may be taken for the next.
  constexpr int kTryCount = 10;
  Result<Listeners, ListenError> listeners = try_to_listen_on(options);
  for (int count = 1; count < kTryCount && options.port == 0 && !listeners; ++count) {
    listeners = try_to_listen_on(options);
  }
  return listeners;
}

Result<std::vector<Listeners>, ListenError> listen_on_shared_port(const ListenOptions& options,
                                                                  std::size_t count) {
  // Bound alone first, so that a port in use is refused; only then is it opened to further sockets of ours.
  Result<Listeners, ListenError> first = listen_on(options);
  if (!first) return Failure{first.error()};
  for (const UniqueFd& fd : first.value().fds) {
    if (count > 1 && !set_option(fd.get(), SOL_SOCKET, SO_REUSEPORT, 1)) {
      return Failure{ListenError{first.value().addresses.front(), errno}};
    }
  }
  ListenOptions shared = options;
  shared.port = first.value().port;
  shared.reuses_port = true;
  std::vector<Listeners> listeners;
  listeners.push_back(std::move(first.value()));
  while (listeners.size() < count) {
    Result<Listeners, ListenError> next = listen_on(shared);
    if (!next) return Failure{next.error()};
    listeners.push_back(std::move(next.value()));
  }
  return listeners;
}

UnixSocketFile::UnixSocketFile(std::string path) : path_(std::move(path)) {
  struct stat file {};
  if (::lstat(path_.c_str(), &file) == 0) inode_ = file.st_ino;
}

UnixSocketFile::UnixSocketFile(UnixSocketFile&& other) noexcept
    : path_(std::exchange(other.path_, {})), inode_(other.inode_) {}

UnixSocketFile& UnixSocketFile::operator=(UnixSocketFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(inode_, other.inode_);
  return *this;
}

UnixSocketFile::~UnixSocketFile() {
  struct stat file {};
  if (!path_.empty() && ::lstat(path_.c_str(), &file) == 0 && file.st_ino == inode_) ::unlink(path_.c_str());
}

Result<UnixSocketFile, ListenError> listen_on_unix(const std::string& path, int backlog,
                                                   std::vector<Listeners>& listeners) {
  const auto fail = [&path](int error_number) { return Failure{ListenError{path, error_number}}; };
  const std::optional<SocketAddress> address = unix_address(path);
  if (!address) return fail(ENAMETOOLONG);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return fail(errno);
  // Only a socket that refuses connections is a leftover; anything else there stays.
  struct stat file {};
  if (::lstat(path.c_str(), &file) == 0) {
    if (!S_ISSOCK(file.st_mode)) return fail(EEXIST);
    const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (::connect(probe.get(), address->get(), address->size) == 0 || errno != ECONNREFUSED)
      return fail(EADDRINUSE);
    ::unlink(path.c_str());
  }
  if (::bind(fd.get(), address->get(), address->size) != 0) return fail(errno);
  UnixSocketFile owner(path);
  if (::listen(fd.get(), backlog) != 0) return fail(errno);
  for (Listeners& each : listeners) {
    UniqueFd shared(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
    if (!shared.is_open()) return fail(errno);
    each.fds.push_back(std::move(shared));
    each.addresses.push_back("unix:" + path);
  }
  return owner;
}

Result<std::vector<Listeners>, ListenError> inherit_listeners(int fd_count, std::size_t count) {
  constexpr int kFirst = 3;
  std::vector<Listeners> listeners(count);
  for (int fd = kFirst; fd < kFirst + fd_count; ++fd) {
    const auto fail = [fd](int error_number) {
      return Failure{ListenError{fmt::format("descriptor {}", fd), error_number}};
    };
    int is_listening = 0;
    socklen_t size = sizeof is_listening;
    if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size) != 0) return fail(errno);
    if (is_listening == 0) return fail(EINVAL);
    if (::fcntl(fd, F_SETFL, O_NONBLOCK) != 0) return fail(errno);
    (void)set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);  // a Unix socket has none
    for (Listeners& each : listeners) {
      UniqueFd shared(::fcntl(fd, F_DUPFD_CLOEXEC, kFirst + fd_count));  // none of those still to come
      if (!shared.is_open()) return fail(errno);
      each.fds.push_back(std::move(shared));
      each.addresses.push_back(fmt::format("descriptor {}", fd));
      if (each.port == 0) each.port = bound_port(fd);
    }
    ::close(fd);
  }
  return listeners;
}

std::string describe_peer(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return "-";
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (storage.ss_family == AF_INET6) {
    sockaddr_in6 ipv6{};
    std::memcpy(&ipv6, &storage, sizeof ipv6);
    ::inet_ntop(AF_INET6, &ipv6.sin6_addr, text.data(), text.size());
    constexpr std::string_view kMapped = "::ffff:";
    const std::string_view address(text.data());
    return std::string(address.starts_with(kMapped) ? address.substr(kMapped.size()) : address);
  }
  if (storage.ss_family != AF_INET) return "unix";
  sockaddr_in ipv4{};
  std::memcpy(&ipv4, &storage, sizeof ipv4);
  ::inet_ntop(AF_INET, &ipv4.sin_addr, text.data(), text.size());
  return text.data();
}

int untaken_size(int fd) noexcept {
  int size = 0;
  return ::ioctl(fd, SIOCOUTQ, &size) == 0 ? size : 0;
}

bool has_waiting_input(int fd) noexcept {
  int size = 0;
  return ::ioctl(fd, FIONREAD, &size) == 0 && size > 0;
}

Transfer receive(int fd, std::span<char> space) noexcept {
  const ssize_t size = ::recv(fd, space.data(), space.size(), 0);
  if (size >= 0) return {Transfer::Outcome::done, static_cast<std::size_t>(size)};
  const bool is_passing = errno == EAGAIN || errno == EINTR;
  return {is_passing ? Transfer::Outcome::would_block : Transfer::Outcome::failed};
}

Transfer send(int fd, std::string_view octets) noexcept {
  const ssize_t size = ::send(fd, octets.data(), octets.size(), MSG_NOSIGNAL);
  if (size >= 0) return {Transfer::Outcome::done, static_cast<std::size_t>(size)};
  const bool is_passing = errno == EAGAIN || errno == EINTR || errno == ENOBUFS;
  return {is_passing ? Transfer::Outcome::would_block : Transfer::Outcome::failed};
}

}  // namespace rest_echo::net
