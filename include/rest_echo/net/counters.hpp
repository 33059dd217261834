#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace rest_echo::net {

/// What the workers of one seat have done, one after another.
struct Counters {
  std::uint64_t connection_count = 0;
  /// Final responses by the first digit of their status.
  std::array<std::uint64_t, 6> response_counts{};
  std::uint64_t received_size = 0;  ///< octets
  std::uint64_t sent_size = 0;      ///< octets

  Counters& operator+=(const Counters& other) noexcept;
  /// `10 connections, 200 requests (2xx 199, 4xx 1, 5xx 0), 1234 octets received, 5678 octets sent`
  [[nodiscard]] std::string describe() const;
};

/// `, CPU 1.234 s user, 2.345 s system`: of this process and the children it has waited for.
[[nodiscard]] std::string describe_cpu_time();

}  // namespace rest_echo::net
