#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "e2e/process.hpp"
#include "rest_echo/net/unique_fd.hpp"

namespace rest_echo::e2e {

/// A directory that is gone, with all that is in it, when its owner is.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// All of them throw std::system_error where the kernel refuses.

/// Listens on 127.0.0.1, on any port.
[[nodiscard]] net::UniqueFd listen_on_loopback(int backlog = 64);
[[nodiscard]] std::uint16_t port_of(const net::UniqueFd& listener);

/// Bound to a path, or where that begins with '@' to an abstract name; a stream also listens.
[[nodiscard]] net::UniqueFd bind_to_path(const std::string& path, int type = SOCK_STREAM, int backlog = 64);
[[nodiscard]] net::UniqueFd connect_to_path(const std::string& path);
/// Whether somebody listens there.
[[nodiscard]] bool can_connect_to_path(const std::string& path);

/// Sends all of it, and reads to the end of the connection.
[[nodiscard]] std::string exchange(const net::UniqueFd& fd, std::string_view octets);
/// A GET by way of that path, on a connection of its own: the whole answer.
[[nodiscard]] std::string ask_at_path(const std::string& path, const std::string& target = "/");

/// A GET of this target, after which the connection goes on.
[[nodiscard]] std::string get(const std::string& target);

[[nodiscard]] bool have_nothing_in_common(const std::vector<pid_t>& some, const std::vector<pid_t>& others);

/// Whether it has said so.
[[nodiscard]] bool is_listening(const Process& process);
/// Waits until it has, and fails the test if it does not.
void expect_listening(Process& process);
/// Fails the test where sanitizers have complained.
void expect_no_complaint(const Process& process);

}  // namespace rest_echo::e2e
