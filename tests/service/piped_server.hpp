#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "e2e/process.hpp"
#include "rest_echo/net/unique_fd.hpp"

namespace rest_echo::e2e {

/// A server on a free port whose standard output is a pipe, read when the test wants it to be.
class PipedServer {
 public:
  /// Returns when it listens. `pipe_size`, from then on; 0: the kernel's choice.
  explicit PipedServer(std::vector<std::string> arguments, int pipe_size = 0);
  PipedServer(const PipedServer&) = delete;
  PipedServer& operator=(const PipedServer&) = delete;
  ~PipedServer();

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::string url() const;
  [[nodiscard]] Process& process() noexcept { return *process_; }

  /// Takes what is in the pipe, at most `size_max` octets. What has been read since it said that it listens.
  const std::string& read(std::size_t size_max = SIZE_MAX);
  /// Nobody will read it any more.
  void close_pipe() { reading_ = net::UniqueFd(); }
  /// SIGTERM, then the exit status; -1 if it goes on. The pipe is read all the while.
  int stop();

 private:
  net::UniqueFd reading_;
  std::optional<Process> process_;
  std::string text_;
  std::uint16_t port_ = 0;
};

}  // namespace rest_echo::e2e
