#pragma once

#include <cstddef>
#include <string_view>

#include "rest_echo/net/unique_fd.hpp"

namespace rest_echo::net {

/// Standard output or error. Lines go there whole, so that those of several processes never mix, and never
/// wait for a reader: a stalled one is no reason to stop serving.
class LineOutput {
 public:
  /// `standard_fd`: STDOUT_FILENO or STDERR_FILENO. A pipe or terminal is opened once more, as its being
  /// non-blocking would be shared with everybody else who has it.
  explicit LineOutput(int standard_fd) noexcept;

  /// Writes lines, each with its line end. Returns how many octets are done with: written, or lost because
  /// nobody can read them. What is left found no room.
  [[nodiscard]] std::size_t write(std::string_view lines) noexcept;
  /// Until there is room, but no longer than `wait_ms`.
  void wait(int wait_ms) noexcept;

 private:
  [[nodiscard]] int fd() const noexcept { return own_.is_open() ? own_.get() : standard_fd_; }

  int standard_fd_;
  UniqueFd own_;
  bool is_socket_ = false;
};

/// Writes a line to standard output, if there is room or will be in a moment.
void print_line(std::string_view text) noexcept;
/// Writes `rest-echo: <text>` to standard error, if there is room.
void log_line(std::string_view text) noexcept;

}  // namespace rest_echo::net
