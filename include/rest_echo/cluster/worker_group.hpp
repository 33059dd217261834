#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "rest_echo/net/event_loop.hpp"
#include "rest_echo/net/load_table.hpp"
#include "rest_echo/net/poller.hpp"
#include "rest_echo/net/signals.hpp"
#include "rest_echo/net/socket.hpp"
#include "rest_echo/net/unique_fd.hpp"

namespace rest_echo::cluster {

struct WorkerGroupOptions {
  /// Worker i runs on the i-th allowed CPU only.
  bool is_pinned = false;
  /// From SIGTERM until workers that are still there are killed, in milliseconds.
  std::int64_t grace_period_ms = 5'000;
  /// Called with each line for people to read: who runs.
  std::function<void(const std::string&)> announce;
  /// Called once, when all workers accept connections.
  std::function<void()> announce_ready;
};

/// The parent of the workers: forks them, watches them, replaces those that die, and serves nothing itself.
/// It keeps a duplicate of every listening socket, so that connections waiting there outlive a worker.
class WorkerGroup {
 public:
  /// One worker for each of `listeners`, all of them on one port. Throws std::system_error where the kernel
  /// refuses.
  WorkerGroup(const WorkerGroupOptions& options, const net::EventLoopOptions& event_loop_options,
              std::vector<net::Listeners> listeners);
  WorkerGroup(const WorkerGroup&) = delete;
  WorkerGroup& operator=(const WorkerGroup&) = delete;
  ~WorkerGroup();

  /// Until SIGTERM or SIGINT, which end the workers within the grace period; a second one ends them at once.
  /// SIGHUP replaces one worker after another. Returns the exit status. In a worker's process it does not
  /// return.
  int run();

  /// Of all workers since the start.
  [[nodiscard]] net::Counters counters() const noexcept { return load_table_.counters(); }

 private:
  enum class State : std::uint8_t { absent, starting, ready };

  /// The process that has a worker's listening sockets now, and the one that it takes over from, if any.
  struct Worker {
    net::Listeners listeners;
    State state = State::absent;
    pid_t pid = -1;
    std::size_t seat = 0;
    pid_t retiring_pid = -1;
    bool is_retiring_told = false;  // it has been sent kRetireSignal
    std::int64_t started_ms = 0;
    std::int64_t start_again_ms = 0;  // while absent
    std::int64_t delay_ms = 0;        // before that start
  };

  void start(std::size_t index, std::size_t seat);
  [[noreturn]] void work(std::size_t index, pid_t parent);
  void take_ready();
  void take_signals();
  void reap();
  void take_end(pid_t pid, int status);
  void vacate(std::size_t seat) noexcept;
  void replace(Worker& worker, State state, const std::string& what_happened);
  void start_due();
  void roll_on();
  [[nodiscard]] std::string describe_cpu_time() const;
  void signal_all(int signal) noexcept;
  [[nodiscard]] std::size_t other_seat(const Worker& worker) const noexcept;
  [[nodiscard]] bool has_processes() const noexcept;
  [[nodiscard]] int timeout_ms() const noexcept;

  WorkerGroupOptions options_;
  net::EventLoopOptions event_loop_options_;
  std::vector<Worker> workers_;
  net::LoadTable load_table_;
  net::Signals signals_;
  net::Poller poller_;
  net::UniqueFd ready_receiving_;  // a worker that accepts connections writes its index here
  net::UniqueFd ready_sending_;
  std::vector<std::size_t> to_roll_;  // workers still to be replaced, the next one last
  bool has_announced_ = false;
  bool is_ending_ = false;
  std::int64_t repeat_counts_ms_ = 0;  // while ending: when another signal ends at once
  std::int64_t end_ms_ = 0;            // while ending: when patience ends
  int exit_status_ = 0;
};

}  // namespace rest_echo::cluster
