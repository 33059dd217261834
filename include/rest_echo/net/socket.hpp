#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rest_echo/bytes/result.hpp"
#include "rest_echo/net/unique_fd.hpp"

namespace rest_echo::net {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  [[nodiscard]] const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// Reads a numeric IPv4 or IPv6 address. Names are not looked up.
[[nodiscard]] std::optional<SocketAddress> read_address(const std::string& host, std::uint16_t port);

/// The address of a Unix socket; a `path` that starts with NUL is a name in the abstract namespace. Nothing
/// if it is empty or too long.
[[nodiscard]] std::optional<SocketAddress> unix_address(std::string_view path) noexcept;

/// Whether `host` is a numeric IPv4 or IPv6 address. Names are not looked up.
[[nodiscard]] bool is_numeric_host(std::string_view host) noexcept;

struct ListenOptions {
  /// Numeric addresses. Empty: `::` for both IP versions, or `0.0.0.0` where there is no IPv6.
  std::vector<std::string> hosts;
  /// 0: any free one, the same for all hosts.
  std::uint16_t port = 0;
  /// Connections that the kernel keeps for us before we accept them; it caps this at net.core.somaxconn.
  int backlog = 4096;
  /// Whether other sockets of the same user may listen on the same port (SO_REUSEPORT); see
  /// listen_on_shared_port().
  bool reuses_port = false;
};

/// A Unix socket's file. Removed with its owner, unless another socket has come to have the path.
class UnixSocketFile {
 public:
  UnixSocketFile() = default;
  explicit UnixSocketFile(std::string path);
  UnixSocketFile(UnixSocketFile&& other) noexcept;
  UnixSocketFile& operator=(UnixSocketFile&& other) noexcept;
  ~UnixSocketFile();

 private:
  std::string path_;  // empty: none
  std::uint64_t inode_ = 0;
};

struct Listeners {
  std::vector<UniqueFd> fds;  ///< non-blocking, listening
  std::uint16_t port = 0;     ///< 0 where only a Unix socket listens
  /// Where they listen, such as `[::]:3000`.
  std::vector<std::string> addresses;
  bool has_fallen_back_to_ipv4 = false;
};

struct ListenError {
  std::string address;
  int error_number;
};

/// Binds and listens.
[[nodiscard]] Result<Listeners, ListenError> listen_on(const ListenOptions& options);

/// The same `count` times over on one port, which nobody else may be listening on: the kernel spreads
/// connections over the sockets (SO_REUSEPORT).
[[nodiscard]] Result<std::vector<Listeners>, ListenError> listen_on_shared_port(const ListenOptions& options,
                                                                                std::size_t count);

/// Listens on a Unix socket too, in each of `listeners`, which share it. A file that nobody listens on any
/// more is replaced.
[[nodiscard]] Result<UnixSocketFile, ListenError> listen_on_unix(const std::string& path, int backlog,
                                                                 std::vector<Listeners>& listeners);

/// Takes listening sockets that this process was started with, from descriptor 3 on (sd_listen_fds(3)), for
/// each of `count` workers to share.
[[nodiscard]] Result<std::vector<Listeners>, ListenError> inherit_listeners(int fd_count, std::size_t count);

/// The numeric address of the connection's peer; `unix` for a Unix socket's.
[[nodiscard]] std::string describe_peer(int fd);

/// Octets sent that the peer's side has not taken yet, as far as the kernel knows.
[[nodiscard]] int untaken_size(int fd) noexcept;

/// Whether octets have arrived that nobody has received yet.
[[nodiscard]] bool has_waiting_input(int fd) noexcept;

/// Octets moved, 0 at the end of input, or why not.
struct Transfer {
  enum class Outcome : std::uint8_t { done, would_block, failed };
  Outcome outcome;
  std::size_t size = 0;
};
[[nodiscard]] Transfer receive(int fd, std::span<char> space) noexcept;
[[nodiscard]] Transfer send(int fd, std::string_view octets) noexcept;

}  // namespace rest_echo::net
