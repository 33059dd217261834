#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "e2e/client.hpp"
#include "e2e/process.hpp"
#include "e2e/server.hpp"

namespace rest_echo::e2e {

/// The processes that the server has forked, ascending; those that have ended and are not reaped are among
/// them.
[[nodiscard]] std::vector<pid_t> workers_of(pid_t parent);
/// Waits for this many workers, none of them one of `gone`. Fewer or more after all patience: a failure.
[[nodiscard]] std::vector<pid_t> wait_for_workers(pid_t parent, std::size_t count,
                                                  const std::vector<pid_t>& gone = {});

/// Whether the process is there and has not ended.
[[nodiscard]] bool is_running(pid_t pid);
[[nodiscard]] bool are_all_gone(const std::vector<pid_t>& pids);
/// Waits until the kernel has stopped the process (SIGSTOP).
void stop_process(pid_t pid);

/// Which worker owns a connection to `port`, by the client's port. Those that nobody has accepted are not
/// there.
[[nodiscard]] std::map<std::uint16_t, pid_t> owners_of(std::uint16_t port, const std::vector<pid_t>& workers);
[[nodiscard]] std::uint16_t local_port(const Client& client);
/// Connections to `port` that each of the workers owns.
[[nodiscard]] std::vector<std::size_t> connection_counts(std::uint16_t port,
                                                         const std::vector<pid_t>& workers);

[[nodiscard]] std::size_t count_of(std::string_view text, std::string_view part);
[[nodiscard]] std::vector<std::string> lines_of(const std::string& text);

/// wrk, running beside the test.
class Load {
 public:
  struct Report {
    std::string text;
    bool has_ended_well = false;
    std::size_t request_count = 0;
    bool has_socket_errors = false;
    bool has_other_statuses = false;  // neither 2xx nor 3xx
  };

  /// The reference document over this many connections.
  Load(const Server& server, int connection_count, int duration_s, std::vector<std::string> more = {});

  [[nodiscard]] Report wait_for_end();

 private:
  Process process_;
};

/// Clients with one connection each.
using Clients = std::vector<std::unique_ptr<Client>>;
[[nodiscard]] Clients connect_clients(std::uint16_t port, std::size_t count);
/// How many of them get the right answer to a request.
[[nodiscard]] std::size_t answered_count(const Clients& clients);

}  // namespace rest_echo::e2e
