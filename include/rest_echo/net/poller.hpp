#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rest_echo/net/unique_fd.hpp"

namespace rest_echo::net {

/// What readiness a descriptor is watched for. Errors and hang-ups are always reported.
enum class Interest : std::uint32_t {
  readable = EPOLLIN,
  writable = EPOLLOUT,
  /// For a listening socket that other processes watch too: one of them is woken, not all. Only for add().
  readable_by_one = EPOLLIN | EPOLLEXCLUSIVE,
};

/// Level-triggered epoll. A descriptor leaves by being closed, unless its socket is open elsewhere too.
class Poller {
 public:
  /// Throws std::system_error where the kernel gives no epoll descriptor.
  Poller();

  /// Return whether the kernel agreed; errno says why not.
  [[nodiscard]] bool add(int fd, Interest interest) noexcept;
  [[nodiscard]] bool remove(int fd) noexcept;
  [[nodiscard]] bool set_interest(int fd, Interest interest) noexcept;

  /// The events of one batch, waiting at most `timeout_ms` (-1: for ever). Valid until the next call; empty
  /// when time is up or a signal came. `data.fd` is the descriptor.
  [[nodiscard]] std::span<const epoll_event> wait(int timeout_ms) noexcept;

 private:
  static constexpr std::size_t kBatchCountMax = 256;

  UniqueFd fd_;
  std::array<epoll_event, kBatchCountMax> events_{};
};

}  // namespace rest_echo::net
