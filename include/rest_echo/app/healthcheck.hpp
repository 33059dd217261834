#pragma once

#include <cstdint>
#include <string>

namespace rest_echo::app {

/// Where a running server is asked for its health.
struct HealthcheckTarget {
  std::string unix_path;  ///< used where it is not empty
  std::string host = "127.0.0.1";
  std::uint16_t port = 3000;
  std::string path = "/healthz";
};

/// Reads `http://host[:port][/path]` with a numeric host or `localhost`. Returns whether it is one.
[[nodiscard]] bool read_healthcheck_url(const std::string& url, HealthcheckTarget& target);

/// Asks, and waits for at most a second. Returns the exit status: 0 if the answer is 200, else 1 with the
/// reason on stderr.
[[nodiscard]] int check_health(const HealthcheckTarget& target);

}  // namespace rest_echo::app
