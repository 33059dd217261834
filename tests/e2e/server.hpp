#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "e2e/process.hpp"

namespace rest_echo::e2e {

/// A server of our own on a free port. A test fails where it ends by itself or its sanitizers complain.
class Server {
 public:
  /// Returns when it accepts connections; throws std::runtime_error if it does not come to that.
  explicit Server(std::vector<std::string> arguments = {}, Launch launch = {});
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::string url(const std::string& target = "/") const;
  /// The server's process itself, not one that it was started through.
  [[nodiscard]] pid_t pid() const noexcept { return process_.pid(); }
  [[nodiscard]] Process& process() noexcept { return process_; }

  /// SIGTERM, then the exit status; -1 if it goes on.
  int stop();
  /// From now on it may end.
  [[nodiscard]] int wait_for_end(Milliseconds patience = kPatience);

 private:
  Process process_;
  std::uint16_t port_ = 0;
  bool has_ended_ = false;
};

/// A port that nobody listens on, and that the kernel gives to nobody who does not ask for it.
[[nodiscard]] std::uint16_t find_free_port();

/// The port in "Listening on port N", or 0 while that line is not there.
[[nodiscard]] std::uint16_t find_port(const std::string& output);

}  // namespace rest_echo::e2e
