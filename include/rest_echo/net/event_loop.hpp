#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rest_echo/echo/conversation.hpp"
#include "rest_echo/http/limits.hpp"
#include "rest_echo/net/acceptor.hpp"
#include "rest_echo/net/connection_table.hpp"
#include "rest_echo/net/counters.hpp"
#include "rest_echo/net/deadline_list.hpp"
#include "rest_echo/net/load_table.hpp"
#include "rest_echo/net/log.hpp"
#include "rest_echo/net/poller.hpp"
#include "rest_echo/net/signals.hpp"
#include "rest_echo/net/socket.hpp"

namespace rest_echo::net {

/// How long a peer may take, and how many there may be. Times in milliseconds.
struct EventLoopOptions {
  http::Limits limits;
  json::Mode json_mode = json::Mode::typed;
  /// Written to stdout.
  std::optional<echo::AccessLog::Format> access_log;
  /// Further ones wait in the kernel's backlog.
  std::size_t connection_count_max = 65536;
  /// From a request's first octet to the end of its head; a new connection has as long to begin one.
  std::int64_t head_timeout_ms = 10'000;
  /// From the end of the head to the end of the content.
  std::int64_t body_timeout_ms = 30'000;
  /// Between two requests.
  std::int64_t idle_timeout_ms = 60'000;
  /// Without a single octet taken by a peer that has answers to read.
  std::int64_t write_timeout_ms = 30'000;
  /// For a peer to close its side after ours has been.
  std::int64_t linger_timeout_ms = 2'000;
  /// Input dropped meanwhile, in octets.
  std::uint32_t linger_size_max = 64U << 20;
  /// From SIGTERM to the end, whatever peers do.
  std::int64_t grace_period_ms = 5'000;
};

/// What tells a worker to hand its connections to the others and end.
inline constexpr int kRetireSignal = SIGUSR2;

/// A worker's place among others. The table must outlive the loop.
struct Seat {
  LoadTable* table;
  std::size_t index;
};

/// One process's server: accepts connections and moves octets between them and their conversations until
/// SIGTERM or SIGINT.
class EventLoop {
 public:
  /// Throws std::system_error where the kernel refuses a descriptor.
  EventLoop(const EventLoopOptions& options, Listeners listeners, std::optional<Seat> seat = std::nullopt);
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  /// Returns the exit status of the process: 0, or 128 + n if signal n came a second time to one without a
  /// seat.
  int run();

  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

 private:
  void watch(int fd);
  void read_clocks();
  [[nodiscard]] int timeout_ms() const noexcept;

  [[nodiscard]] bool is_finished() const noexcept;
  [[nodiscard]] bool is_awaiting_handed_over() const noexcept;
  void take_signals();
  void start_draining();
  void stop_listening();
  void retire();

  void accept_from(int listener);
  Connection* admit(UniqueFd fd);

  void take_handed_over();
  void balance();
  [[nodiscard]] Connection* find_movable() noexcept;

  void take_event(const epoll_event& event);
  template <typename Work>
  void serve(Connection& connection, Work work);
  void refuse_for_memory(Connection& connection) noexcept;
  void take_event(Connection& connection, std::uint32_t events);
  void read(Connection& connection);
  void write_unsent(Connection& connection);
  void flush(Connection& connection, std::size_t answered_count);
  void keep_unsent(Connection& connection, std::string_view octets);
  void linger(Connection& connection);
  void drop_input(Connection& connection);
  void close_soon(Connection& connection) noexcept;

  void wait_for_write(Connection& connection) noexcept;
  void wait_for(Connection& connection, Wait wait, bool is_renewed) noexcept;
  void expire();
  void destroy_closing();
  void release_spare();
  void count();
  void write_access_log();
  void write_last_access_log();

  [[nodiscard]] DeadlineList& list_of(Wait wait) noexcept {
    return deadlines_[static_cast<std::size_t>(wait)];
  }

  EventLoopOptions options_;
  std::optional<Seat> seat_;
  bool ends_on_hang_up_;  // started from a terminal
  Signals signals_;
  Poller poller_;
  Acceptor acceptor_;
  echo::Workspace workspace_;
  ConnectionTable connections_;
  std::array<DeadlineList, kWaitCount> deadlines_;
  std::vector<Connection*> closing_;
  std::int64_t now_ms_ = 0;
  bool is_draining_ = false;
  bool is_retiring_ = false;
  std::int64_t repeat_counts_ms_ = 0;  // while draining: when another signal ends at once
  std::int64_t grace_end_ms_ = 0;      // while draining
  std::int64_t retire_end_ms_ = 0;     // while retiring: when to start draining
  std::int64_t spare_released_ms_ = 0;
  std::size_t published_count_ = 0;     // what the table says of us
  std::int32_t balanced_version_ = -1;  // of the table, when last looked at
  std::int64_t balance_end_ms_ = 0;     // until when to go on looking
  bool is_balance_due_ = false;         // to be looked at again soon, whatever happens
  int exit_status_ = 0;
  Counters counters_;
  std::array<std::uint64_t, 6> counted_responses_{};  // of the service's, those already in counters_
  std::vector<std::string> clients_;  // numeric addresses by descriptor, where there is an access log
  std::optional<LineOutput> access_log_output_;
  std::int64_t access_log_written_ms_ = 0;
};

}  // namespace rest_echo::net
