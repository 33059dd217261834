#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "e2e/eventually.hpp"
#include "rest_echo/net/unique_fd.hpp"

namespace rest_echo::e2e {

/// Whether the server under test is instrumented: then it is larger and slower than it is to be.
inline constexpr bool kIsSanitized = REST_ECHO_IS_SANITIZED;

/// The server's program.
[[nodiscard]] std::string server_program();
/// A file of the source tree.
[[nodiscard]] std::string source_file(const std::string& path);
[[nodiscard]] std::string read_file(const std::string& path);
/// Whether PATH leads to such a program.
[[nodiscard]] bool has_program(const std::string& name);

/// What to run and how.
struct Launch {
  std::vector<std::string> command{};
  /// NAME=value, added to ours without PORT, CLUSTER and REST_ECHO_*.
  std::vector<std::string> environment{};
  /// Its standard input; empty: /dev/null.
  std::string input_file{};
  /// Its standard output and error: these files instead of memory.
  std::string output_file{};
  std::string error_file{};
  /// Soft and hard limit of descriptors; 0: as we have it.
  std::uint64_t descriptor_soft_limit = 0;
  std::uint64_t descriptor_hard_limit = 0;
  /// Whether it gets to see a machine without IPv6.
  bool has_no_ipv6 = false;
};

/// A child process. Ends with its owner.
class Process {
 public:
  explicit Process(const Launch& launch);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// What it has written so far.
  [[nodiscard]] std::string output() const;
  [[nodiscard]] std::string errors() const;

  void send_signal(int signal) const;
  /// Its exit status, or 128 + n if signal n ended it, or nothing if it goes on.
  [[nodiscard]] std::optional<int> wait_for_end(Milliseconds patience = kPatience);

 private:
  pid_t pid_ = -1;
  net::UniqueFd output_;
  net::UniqueFd errors_;
  std::optional<int> status_;
};

/// Runs a program to its end.
struct Finished {
  int status;  // -1: it did not come to an end
  std::string output;
  std::string errors;
};
[[nodiscard]] Finished run(const Launch& launch, Milliseconds patience = 3 * kPatience);
/// The server with these arguments, to its end.
[[nodiscard]] Finished run_server(std::vector<std::string> arguments,
                                  std::vector<std::string> environment = {});

// What the kernel says about a process; 0 where it has ended.
[[nodiscard]] std::size_t resident_size(pid_t pid);
[[nodiscard]] std::size_t resident_size_max(pid_t pid);
[[nodiscard]] Milliseconds processor_time(pid_t pid);
[[nodiscard]] std::size_t descriptor_count(pid_t pid);
[[nodiscard]] std::vector<pid_t> children_of(pid_t pid);

}  // namespace rest_echo::e2e
