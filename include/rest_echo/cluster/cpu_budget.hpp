#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rest_echo::cluster {

/// A limit of CPU time: `quota_us` of every `period_us` microseconds.
struct CpuQuota {
  std::int64_t quota_us;
  std::int64_t period_us;
  std::string source;  ///< `cpu.max` (cgroup v2) or `cpu.cfs_quota_us` (v1)

  [[nodiscard]] std::size_t cpu_count() const noexcept;  ///< rounded up, at least 1
};

/// What this process may use of the machine.
struct CpuBudget {
  std::size_t allowed_count = 1;  ///< CPUs in the affinity mask
  std::optional<CpuQuota> quota;

  /// min(allowed CPUs, quota rounded up), at least 1: more busy processes than that only wait for each other.
  [[nodiscard]] std::size_t usable_count() const noexcept;
  /// Such as `cgroup cpu.max 150000/100000, 8 CPUs allowed`.
  [[nodiscard]] std::string describe() const;
};

/// The smallest quota between the process's own cgroup and the root that can be seen, v1, v2 or both mounted.
/// `root` stands for `/`: below it `proc/self/cgroup`, `proc/self/mountinfo` and the mounts they name are
/// read.
[[nodiscard]] std::optional<CpuQuota> read_cpu_quota(const std::filesystem::path& root);

/// The affinity mask of this process and the quota under `/`.
[[nodiscard]] CpuBudget read_cpu_budget();

/// The CPUs of the affinity mask, ascending.
[[nodiscard]] std::vector<int> allowed_cpus();

/// Keeps this process on the `index`-th allowed CPU, counted round. A failure is logged and changes nothing.
void pin_to_allowed_cpu(std::size_t index);

}  // namespace rest_echo::cluster
