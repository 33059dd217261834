#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rest_echo/net/poller.hpp"
#include "rest_echo/net/unique_fd.hpp"

namespace rest_echo::net {

/// The listening sockets of one event loop. A listening socket stays readable while a connection waits, so
/// whenever none can be taken it must not be watched, or the loop would spin.
class Acceptor {
 public:
  /// Watches the sockets; throws std::system_error where the kernel refuses. The poller must outlive this.
  Acceptor(std::vector<UniqueFd> listeners, Poller& poller);

  [[nodiscard]] std::span<const UniqueFd> listeners() const noexcept { return listeners_; }
  [[nodiscard]] bool owns(int fd) const noexcept;

  /// The next connection that waits at `listener`, non-blocking; not open if there is none. Without a
  /// descriptor to be had it rests for a moment, and says so on stderr at most once a second.
  [[nodiscard]] UniqueFd accept(int listener, std::int64_t now_ms);

  /// Stops watching until go_on() or until `until_ms`, when the loop should call go_on().
  void rest(std::int64_t until_ms) noexcept;
  void go_on() noexcept;
  [[nodiscard]] bool is_resting() const noexcept { return is_resting_; }
  [[nodiscard]] std::int64_t rest_end_ms() const noexcept { return rest_end_ms_; }

  /// Closes the sockets; those shared with other processes stay open there.
  void close() noexcept;

 private:
  Poller* poller_;
  std::vector<UniqueFd> listeners_;
  bool is_resting_ = false;
  std::int64_t rest_end_ms_ = 0;  // while resting
  std::int64_t logged_ms_;
};

}  // namespace rest_echo::net
