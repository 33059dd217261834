#pragma once

#include <cstddef>
#include <string_view>

#include "rest_echo/net/unique_fd.hpp"

namespace rest_echo::net {

/// Writes `rest-echo: <text>` and a line end to stderr, in one piece. That nobody reads it is no reason to
/// stop serving: failures are ignored.
void log_line(std::string_view text) noexcept;

/// Standard output for write_lines(): where it is a pipe, opened once more without blocking, as several
/// processes that all saw room in it must not wait for each other's reader.
[[nodiscard]] UniqueFd open_line_output();

/// Writes whole lines of `lines` to `fd`, each in one piece, so that lines of several processes never mix.
/// Waits for a slow reader no longer than `wait_ms` each time; returns how many octets are done with:
/// written, or lost because nobody can read them.
[[nodiscard]] std::size_t write_lines(int fd, std::string_view lines, int wait_ms) noexcept;

}  // namespace rest_echo::net
