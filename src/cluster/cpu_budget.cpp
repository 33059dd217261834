#include "rest_echo/cluster/cpu_budget.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include "rest_echo/net/log.hpp"

namespace rest_echo::cluster {
namespace {

namespace fs = std::filesystem;

enum class Version { v1, v2 };

/// A cgroup hierarchy that can limit CPU time, as this process sees it.
struct Hierarchy {
  Version version;
  std::string mount_root;   // which cgroup is mounted; `/` unless a container's view is bound in
  std::string mount_point;  // where
};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

bool has_cpu(std::string_view comma_separated) {
  return std::ranges::count(split(comma_separated, ','), std::string("cpu")) > 0;
}

// mountinfo writes space, tab, newline and backslash as three octal digits behind a backslash.
std::string unescape_octal(std::string_view text) {
  std::string unescaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto is_octal = [&](std::size_t at) {
      return at < text.size() && text[at] >= '0' && text[at] <= '7';
    };
    if (text[i] == '\\' && is_octal(i + 1) && is_octal(i + 2) && is_octal(i + 3)) {
      unescaped +=
          static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      unescaped += text[i];
    }
  }
  return unescaped;
}

// A line: ID PARENT MAJOR:MINOR ROOT MOUNT_POINT OPTIONS [FIELDS] - TYPE SOURCE SUPER_OPTIONS (proc(5))
std::vector<Hierarchy> read_hierarchies(const fs::path& root) {
  std::vector<Hierarchy> hierarchies;
  std::ifstream mounts(root / "proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const std::vector<std::string> place = split(std::string_view(line).substr(0, dash), ' ');
    const std::vector<std::string> kind = split(std::string_view(line).substr(dash + 3), ' ');
    if (place.size() < 5 || kind.size() < 3) continue;
    const bool is_v2 = kind[0] == "cgroup2";
    if (!is_v2 && !(kind[0] == "cgroup" && has_cpu(kind[2]))) continue;
    hierarchies.push_back(
        {is_v2 ? Version::v2 : Version::v1, unescape_octal(place[3]), unescape_octal(place[4])});
  }
  return hierarchies;
}

// The process's cgroup in that hierarchy; a line: ID:CONTROLLERS:PATH (cgroups(7))
std::optional<std::string> read_cgroup_path(const fs::path& root, Version version) {
  std::ifstream cgroups(root / "proc/self/cgroup");
  for (std::string line; std::getline(cgroups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    if (version == Version::v2 ? controllers.empty() : has_cpu(controllers)) return line.substr(second + 1);
  }
  return std::nullopt;
}

std::optional<std::int64_t> read_number(const fs::path& file) {
  std::ifstream stream(file);
  std::int64_t number = 0;
  return stream >> number ? std::optional(number) : std::nullopt;
}

std::optional<CpuQuota> read_quota_of(const fs::path& cgroup, Version version) {
  CpuQuota quota{0, 0, version == Version::v2 ? "cpu.max" : "cpu.cfs_quota_us"};
  if (version == Version::v2) {
    std::ifstream stream(cgroup / "cpu.max");
    if (!(stream >> quota.quota_us >> quota.period_us)) return std::nullopt;  // also for `max`
  } else {
    const std::optional<std::int64_t> quota_us = read_number(cgroup / "cpu.cfs_quota_us");
    const std::optional<std::int64_t> period_us = read_number(cgroup / "cpu.cfs_period_us");
    if (!quota_us || !period_us) return std::nullopt;
    quota.quota_us = *quota_us;
    quota.period_us = *period_us;
  }
  if (quota.quota_us <= 0 || quota.period_us <= 0) return std::nullopt;
  return quota;
}

bool is_smaller(const CpuQuota& a, const CpuQuota& b) {
  return static_cast<double>(a.quota_us) / static_cast<double>(a.period_us) <
         static_cast<double>(b.quota_us) / static_cast<double>(b.period_us);
}

// The cgroup's place below the mount point. A path outside the mounted root, or outside the cgroup namespace
// (`/..`), cannot be seen: then the mount point itself is all there is.
fs::path relative_place(const std::string& cgroup_path, const std::string& mount_root) {
  const fs::path relative = fs::path(cgroup_path).lexically_relative(mount_root);
  const bool is_below = !relative.empty() && *relative.begin() != "..";
  return is_below ? relative : fs::path(".");
}

}  // namespace

std::size_t CpuQuota::cpu_count() const noexcept {
  return static_cast<std::size_t>(std::max<std::int64_t>(1, (quota_us - 1) / period_us + 1));
}

std::size_t CpuBudget::usable_count() const noexcept {
  return std::max<std::size_t>(1, quota ? std::min(allowed_count, quota->cpu_count()) : allowed_count);
}

std::string CpuBudget::describe() const {
  std::string allowed = fmt::format("{} CPU{} allowed", allowed_count, allowed_count == 1 ? "" : "s");
  if (!quota) return allowed;
  return fmt::format("cgroup {} {}/{}, {}", quota->source, quota->quota_us, quota->period_us, allowed);
}

std::optional<CpuQuota> read_cpu_quota(const fs::path& root) {
  std::optional<CpuQuota> smallest;
  for (const Hierarchy& hierarchy : read_hierarchies(root)) {
    const std::optional<std::string> path = read_cgroup_path(root, hierarchy.version);
    if (!path) continue;
    const fs::path mount_point = root / fs::path(hierarchy.mount_point).relative_path();
    fs::path place = relative_place(*path, hierarchy.mount_root);
    for (;; place = place.parent_path()) {
      const std::optional<CpuQuota> quota = read_quota_of(mount_point / place, hierarchy.version);
      if (quota && (!smallest || is_smaller(*quota, *smallest))) smallest = quota;
      if (place.empty() || place == ".") break;
    }
  }
  return smallest;
}

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  // The kernel refuses a mask that is too small for it: try larger ones.
  for (int cpu_count = 1024; cpu_count <= 1 << 20; cpu_count *= 2) {
    cpu_set_t* const set = CPU_ALLOC(cpu_count);
    const std::size_t size = CPU_ALLOC_SIZE(cpu_count);
    if (::sched_getaffinity(0, size, set) == 0) {
      for (int cpu = 0; cpu < cpu_count; ++cpu) {
        if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, set)) cpus.push_back(cpu);
      }
      CPU_FREE(set);
      return cpus;
    }
    CPU_FREE(set);
  }
  return {0};
}

CpuBudget read_cpu_budget() { return {std::max<std::size_t>(1, allowed_cpus().size()), read_cpu_quota("/")}; }

void pin_to_allowed_cpu(std::size_t index) {
  const std::vector<int> cpus = allowed_cpus();
  const int cpu = cpus[index % cpus.size()];
  cpu_set_t* const set = CPU_ALLOC(cpu + 1);
  const std::size_t size = CPU_ALLOC_SIZE(cpu + 1);
  CPU_ZERO_S(size, set);
  CPU_SET_S(static_cast<std::size_t>(cpu), size, set);
  if (::sched_setaffinity(0, size, set) != 0) {
    net::log_line(fmt::format("cannot pin a worker to CPU {}: {}", cpu, std::strerror(errno)));
  }
  CPU_FREE(set);
}

}  // namespace rest_echo::cluster
