#include "rest_echo/net/counters.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <numeric>

namespace rest_echo::net {

Counters& Counters::operator+=(const Counters& other) noexcept {
  connection_count += other.connection_count;
  for (std::size_t i = 0; i < response_counts.size(); ++i) response_counts[i] += other.response_counts[i];
  received_size += other.received_size;
  sent_size += other.sent_size;
  return *this;
}

std::string Counters::describe() const {
  return fmt::format(
      "{} connections, {} requests (2xx {}, 4xx {}, 5xx {}), {} octets received, {} octets sent",
      connection_count, std::accumulate(response_counts.begin(), response_counts.end(), std::uint64_t{0}),
      response_counts[2], response_counts[4], response_counts[5], received_size, sent_size);
}

std::string describe_cpu_time() {
  double user_s = 0;
  double system_s = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    if (::getrusage(who, &usage) != 0) continue;
    user_s += static_cast<double>(usage.ru_utime.tv_sec) + static_cast<double>(usage.ru_utime.tv_usec) / 1e6;
    system_s +=
        static_cast<double>(usage.ru_stime.tv_sec) + static_cast<double>(usage.ru_stime.tv_usec) / 1e6;
  }
  return fmt::format(", CPU {:.3f} s user, {:.3f} s system", user_s, system_s);
}

}  // namespace rest_echo::net
