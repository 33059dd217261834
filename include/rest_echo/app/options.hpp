#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "rest_echo/app/healthcheck.hpp"
#include "rest_echo/net/event_loop.hpp"

namespace rest_echo::app {

/// The command line: a flag, else the environment, else the default.
struct Options {
  std::vector<std::string> hosts;
  std::uint16_t port = 3000;
  int backlog = 4096;
  /// Processes that serve; without a value, as many as there are CPUs to use.
  std::optional<std::size_t> worker_count = 1;
  bool is_pinned = false;
  bool is_quiet = false;
  /// Where not empty, a Unix socket to listen on; TCP then only where it was asked for too.
  std::string unix_path;
  bool listens_on_tcp = true;
  /// Counters at the end.
  bool prints_stats = false;
  /// Ask a running server for its health instead of being one.
  std::optional<HealthcheckTarget> healthcheck;
  net::EventLoopOptions event_loop;
};

/// The command line asked for nothing to be served, or for something impossible; what there was to say has
/// been said.
struct Exit {
  int status;
};

/// Reads the command line and the environment. Writes help and version to stdout, errors to stderr.
[[nodiscard]] std::variant<Options, Exit> read_options(int argc, const char* const* argv);

/// Version, commit, compiler, JSON library: one line.
[[nodiscard]] std::string describe_version();

}  // namespace rest_echo::app
