#pragma once

#include <chrono>
#include <thread>

namespace rest_echo::e2e {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

/// How long what is due at once may take on a loaded machine.
inline constexpr Milliseconds kPatience{20'000};

[[nodiscard]] inline Milliseconds elapsed_since(Clock::time_point start) {
  return std::chrono::duration_cast<Milliseconds>(Clock::now() - start);
}

inline void pause_for(Milliseconds time) { std::this_thread::sleep_for(time); }

/// Asks again and again; whether `holds` came true before the patience was over.
template <typename Predicate>
[[nodiscard]] bool eventually(Predicate holds, Milliseconds patience = kPatience) {
  for (const Clock::time_point start = Clock::now(); elapsed_since(start) < patience;) {
    if (holds()) return true;
    pause_for(Milliseconds{2});
  }
  return holds();
}

}  // namespace rest_echo::e2e
