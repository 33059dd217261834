#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "rest_echo/net/unique_fd.hpp"

namespace rest_echo::net {

/// A signal that is repeated within this time is the same wish: `timeout` tells the process and then its
/// group, and launchers forward what the terminal has sent already.
inline constexpr std::int64_t kRepeatedSignalMs = 50;

/// Whether a terminal could hang up on this process.
[[nodiscard]] bool has_controlling_terminal() noexcept;

/// Signals as readiness. Blocks the given ones for this process, so that they wait here instead of acting by
/// default or being ignored, as they would be for process 1.
class Signals {
 public:
  /// Throws std::system_error where the kernel refuses.
  explicit Signals(std::initializer_list<int> signals);

  /// Readable while a signal waits.
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// The next signal that waits, if any.
  [[nodiscard]] std::optional<int> take() noexcept;

 private:
  UniqueFd fd_;
};

}  // namespace rest_echo::net
