#include "rest_echo/cluster/cpu_budget.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace rest_echo::cluster {
namespace {

namespace fs = std::filesystem;

/// A tree of files that stands for `/`.
class Root {
 public:
  explicit Root(const std::map<std::string, std::string>& files) {
    std::string name = fs::temp_directory_path() / "cpu_budget_test.XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
    for (const auto& [file, text] : files) {
      fs::create_directories((path_ / file).parent_path());
      std::ofstream(path_ / file) << text;
    }
  }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;
  ~Root() { fs::remove_all(path_); }

  [[nodiscard]] const fs::path& path() const noexcept { return path_; }

 private:
  fs::path path_;
};

struct Row {
  std::string name;
  std::string cgroup;     // proc/self/cgroup
  std::string mountinfo;  // proc/self/mountinfo
  std::map<std::string, std::string> files;
  std::string quota;  // SOURCE QUOTA/PERIOD, or "" for none
};

std::string describe(const std::optional<CpuQuota>& quota) {
  if (!quota) return "";
  return quota->source + " " + std::to_string(quota->quota_us) + "/" + std::to_string(quota->period_us);
}

// Lines of mountinfo as kernels write them.
const std::string kDisk = "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n";
const std::string kUnified =
    "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
const std::string kCpu =
    "33 24 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:10 - cgroup cgroup rw,cpu,cpuacct\n";
const std::string kMemory = "36 24 0:31 / /sys/fs/cgroup/memory rw shared:11 - cgroup cgroup rw,memory\n";
const std::string kHybrid = "34 24 0:29 / /sys/fs/cgroup/unified rw shared:12 - cgroup2 cgroup2 rw\n";

const std::string kV1 = "sys/fs/cgroup/cpu,cpuacct/";

std::map<std::string, std::string> v1_quota(const std::string& cgroup, const std::string& quota,
                                            const std::string& period = "100000") {
  return {{cgroup + "cpu.cfs_quota_us", quota + "\n"}, {cgroup + "cpu.cfs_period_us", period + "\n"}};
}

std::map<std::string, std::string> merge(std::map<std::string, std::string> a,
                                         const std::map<std::string, std::string>& b) {
  a.insert(b.begin(), b.end());
  return a;
}

const std::vector<Row> kRows{
    // cgroup v2
    {"v2, own quota",
     "0::/app\n",
     kDisk + kUnified,
     {{"sys/fs/cgroup/app/cpu.max", "150000 100000\n"}},
     "cpu.max 150000/100000"},
    {"v2, no quota", "0::/app\n", kUnified, {{"sys/fs/cgroup/app/cpu.max", "max 100000\n"}}, ""},
    {"v2, the parent's is smaller",
     "0::/slice/app\n",
     kUnified,
     {{"sys/fs/cgroup/slice/app/cpu.max", "400000 100000\n"},
      {"sys/fs/cgroup/slice/cpu.max", "100000 100000\n"}},
     "cpu.max 100000/100000"},
    {"v2, its own is smaller",
     "0::/slice/app\n",
     kUnified,
     {{"sys/fs/cgroup/slice/app/cpu.max", "50000 100000\n"},
      {"sys/fs/cgroup/slice/cpu.max", "100000 100000\n"}},
     "cpu.max 50000/100000"},
    {"v2, smaller as a share, not as a number",
     "0::/slice/app\n",
     kUnified,
     {{"sys/fs/cgroup/slice/app/cpu.max", "200000 100000\n"},
      {"sys/fs/cgroup/slice/cpu.max", "10000 1000\n"}},
     "cpu.max 200000/100000"},
    {"v2, far above, past levels without a controller",
     "0::/a/b/c/d\n",
     kUnified,
     {{"sys/fs/cgroup/a/cpu.max", "300000 100000\n"}, {"sys/fs/cgroup/a/b/c/d/cpu.max", "max 100000\n"}},
     "cpu.max 300000/100000"},
    {"v2, beside the path: somebody else's",
     "0::/app\n",
     kUnified,
     {{"sys/fs/cgroup/other/cpu.max", "10000 100000\n"},
      {"sys/fs/cgroup/app/below/cpu.max", "10000 100000\n"}},
     ""},
    {"v2, in a container with a cgroup namespace",
     "0::/\n",
     "610 599 0:30 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate\n",
     {{"sys/fs/cgroup/cpu.max", "100000 100000\n"}},
     "cpu.max 100000/100000"},
    {"v2, in a container without one: the mount is its cgroup",
     "0::/docker/0123\n",
     "610 599 0:30 /docker/0123 /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
     {{"sys/fs/cgroup/cpu.max", "200000 100000\n"}},
     "cpu.max 200000/100000"},
    {"v2, below the mounted cgroup",
     "0::/docker/0123/app\n",
     "610 599 0:30 /docker/0123 /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
     {{"sys/fs/cgroup/cpu.max", "200000 100000\n"}, {"sys/fs/cgroup/app/cpu.max", "100000 100000\n"}},
     "cpu.max 100000/100000"},
    {"v2, outside the mounted cgroup: the mount is all there is",
     "0::/elsewhere\n",
     "610 599 0:30 /docker/0123 /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
     {{"sys/fs/cgroup/cpu.max", "200000 100000\n"}, {"sys/fs/cgroup/elsewhere/cpu.max", "1000 100000\n"}},
     "cpu.max 200000/100000"},
    {"v2, a name that only begins like the mounted cgroup",
     "0::/docker/01234\n",
     "610 599 0:30 /docker/0123 /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
     {{"sys/fs/cgroup/cpu.max", "200000 100000\n"}, {"sys/fs/cgroup/4/cpu.max", "1000 100000\n"}},
     "cpu.max 200000/100000"},
    {"v2, above the namespace's root",
     "0::/../..\n",
     kUnified,
     {{"sys/fs/cgroup/cpu.max", "100000 100000\n"}},
     "cpu.max 100000/100000"},
    {"v2, beside the namespace's root",
     "0::/../other\n",
     kUnified,
     {{"sys/fs/cgroup/cpu.max", "100000 100000\n"}, {"sys/fs/cgroup/other/cpu.max", "1000 100000\n"}},
     "cpu.max 100000/100000"},
    {"v2, never above the mount",
     "0::/../..\n",
     kUnified,
     {{"cpu.max", "1000 100000\n"}, {"sys/cpu.max", "1 9\n"}},
     ""},
    {"v2, a cgroup that was removed",
     "0::/slice/app (deleted)\n",
     kUnified,
     {{"sys/fs/cgroup/slice/cpu.max", "100000 100000\n"}},
     "cpu.max 100000/100000"},
    {"v2, a colon in the name",
     "0::/app:1\n",
     kUnified,
     {{"sys/fs/cgroup/app:1/cpu.max", "100000 100000\n"}},
     "cpu.max 100000/100000"},
    // cgroup v1
    {"v1, own quota", "4:memory:/app\n3:cpu,cpuacct:/app\n", kDisk + kMemory + kCpu,
     v1_quota(kV1 + "app/", "150000"), "cpu.cfs_quota_us 150000/100000"},
    {"v1, no quota", "3:cpu,cpuacct:/app\n", kCpu, v1_quota(kV1 + "app/", "-1"), ""},
    {"v1, the parent's is smaller", "3:cpu,cpuacct:/slice/app\n", kCpu,
     merge(v1_quota(kV1 + "slice/app/", "-1"), v1_quota(kV1 + "slice/", "25000", "50000")),
     "cpu.cfs_quota_us 25000/50000"},
    {"v1, its own is smaller", "3:cpuacct,cpu:/slice/app\n", kCpu,
     merge(v1_quota(kV1 + "slice/app/", "100000"), v1_quota(kV1 + "slice/", "200000")),
     "cpu.cfs_quota_us 100000/100000"},
    {"v1, in a container: the mount is its cgroup", "3:cpu,cpuacct:/docker/0123\n",
     "612 599 0:28 /docker/0123 /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n",
     v1_quota(kV1, "100000"), "cpu.cfs_quota_us 100000/100000"},
    {"v1, in a container with a cgroup namespace", "3:cpu,cpuacct:/\n", kCpu, v1_quota(kV1, "100000"),
     "cpu.cfs_quota_us 100000/100000"},
    {"v1, cpuacct and cpuset are not cpu", "5:cpuset:/a\n4:cpuacct:/a\n",
     "33 24 0:28 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
     "34 24 0:29 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n",
     merge(v1_quota("sys/fs/cgroup/cpuset/a/", "1000"), v1_quota("sys/fs/cgroup/cpuacct/a/", "1000")), ""},
    {"v1, a quota without a period", "3:cpu:/app\n", kCpu, {{kV1 + "app/cpu.cfs_quota_us", "100000\n"}}, ""},
    // both
    {"hybrid, the quota is v1's", "3:cpu,cpuacct:/app\n0::/user\n", kCpu + kHybrid,
     merge(v1_quota(kV1 + "app/", "100000"), {{"sys/fs/cgroup/unified/user/cgroup.procs", "1\n"}}),
     "cpu.cfs_quota_us 100000/100000"},
    {"hybrid, the quota is v2's",
     "3:memory:/app\n0::/user\n",
     kMemory + kHybrid,
     {{"sys/fs/cgroup/unified/user/cpu.max", "100000 100000\n"}},
     "cpu.max 100000/100000"},
    {"hybrid, the smaller of both", "3:cpu,cpuacct:/app\n0::/user\n", kCpu + kHybrid,
     merge(v1_quota(kV1 + "app/", "300000"), {{"sys/fs/cgroup/unified/user/cpu.max", "200000 100000\n"}}),
     "cpu.max 200000/100000"},
    // how mountinfo is written
    {"a mount point with a space, a tab and a backslash",
     "0::/app\n",
     R"(35 24 0:30 / /my\040cgroups\011and\134more rw - cgroup2 cgroup2 rw)"
     "\n",
     {{"my cgroups\tand\\more/app/cpu.max", "100000 100000\n"}},
     "cpu.max 100000/100000"},
    {"a mounted cgroup with a space",
     "0::/my app/inner\n",
     R"(35 24 0:30 /my\040app /sys/fs/cgroup rw - cgroup2 cgroup2 rw)"
     "\n",
     {{"sys/fs/cgroup/inner/cpu.max", "100000 100000\n"}},
     "cpu.max 100000/100000"},
    {"a backslash that begins no escape",
     "0::/app\n",
     R"(35 24 0:30 / /a\09\ rw - cgroup2 cgroup2 rw)"
     "\n",
     {{R"(a\09\/app/cpu.max)", "100000 100000\n"}},
     "cpu.max 100000/100000"},
    {"no optional fields, and several",
     "0::/app\n",
     "30 24 0:27 / /other rw - tmpfs tmpfs rw\n35 24 0:30 / /cg rw shared:1 master:2 unbindable - cgroup2 "
     "none rw\n",
     {{"cg/app/cpu.max", "100000 100000\n"}},
     "cpu.max 100000/100000"},
    {"a file system that is only called cgroup2",
     "0::/app\n",
     "35 24 0:30 / /cg rw - tmpfs cgroup2 rw\n",
     {{"cg/app/cpu.max", "100000 100000\n"}},
     ""},
    {"lines that are none",
     "\n0\n0:\n0::/app\n",
     "\n - \n1 2 3 - cgroup2\n" + kUnified,
     {{"sys/fs/cgroup/app/cpu.max", "100000 100000\n"}},
     "cpu.max 100000/100000"},
    // what is missing or makes no sense
    {"no files at all", "", "", {}, ""},
    {"no mounts", "0::/app\n", "", {{"sys/fs/cgroup/app/cpu.max", "100000 100000\n"}}, ""},
    {"no cgroup", "", kUnified + kCpu, {{"sys/fs/cgroup/cpu.max", "100000 100000\n"}}, ""},
    {"an empty cpu.max", "0::/app\n", kUnified, {{"sys/fs/cgroup/app/cpu.max", ""}}, ""},
    {"a cpu.max without a period", "0::/app\n", kUnified, {{"sys/fs/cgroup/app/cpu.max", "100000\n"}}, ""},
    {"a quota of nothing", "0::/app\n", kUnified, {{"sys/fs/cgroup/app/cpu.max", "0 100000\n"}}, ""},
    {"a period of nothing", "0::/app\n", kUnified, {{"sys/fs/cgroup/app/cpu.max", "100000 0\n"}}, ""},
    {"words", "0::/app\n", kUnified, {{"sys/fs/cgroup/app/cpu.max", "much often\n"}}, ""},
};

TEST(CpuQuota, IsTheSmallestThatCanBeSeen) {
  for (const Row& row : kRows) {
    const Root root(
        merge(row.files, {{"proc/self/cgroup", row.cgroup}, {"proc/self/mountinfo", row.mountinfo}}));
    EXPECT_EQ(describe(read_cpu_quota(root.path())), row.quota) << row.name;
  }
}

TEST(CpuQuota, IsNoneWhereThereIsNoProc) { EXPECT_FALSE(read_cpu_quota("/nowhere")); }

TEST(CpuQuota, IsReadFromThisMachineToo) {
  EXPECT_NO_THROW({
    const std::optional<CpuQuota> quota = read_cpu_quota("/");
    EXPECT_TRUE(!quota || quota->quota_us > 0);
  });
}

TEST(CpuQuota, CountsCpusRoundedUp) {
  struct CountRow {
    std::int64_t quota_us;
    std::int64_t period_us;
    std::size_t count;
  };
  for (const CountRow& row :
       {CountRow{1, 100'000, 1}, CountRow{1000, 100'000, 1}, CountRow{99'999, 100'000, 1},
        CountRow{100'000, 100'000, 1}, CountRow{100'001, 100'000, 2}, CountRow{150'000, 100'000, 2},
        CountRow{200'000, 100'000, 2}, CountRow{200'001, 100'000, 3}, CountRow{6400, 100, 64},
        CountRow{INT64_MAX, 1, INT64_MAX}}) {
    EXPECT_EQ((CpuQuota{row.quota_us, row.period_us, "cpu.max"}.cpu_count()), row.count)
        << row.quota_us << "/" << row.period_us;
  }
}

TEST(CpuBudget, IsTheLesserOfAffinityAndQuota) {
  struct BudgetRow {
    std::size_t allowed_count;
    std::int64_t quota_us;  // 0: none
    std::size_t count;
    std::string description;
  };
  for (const BudgetRow& row : {
           BudgetRow{8, 150'000, 2, "cgroup cpu.max 150000/100000, 8 CPUs allowed"},
           BudgetRow{1, 150'000, 1, "cgroup cpu.max 150000/100000, 1 CPU allowed"},
           BudgetRow{2, 800'000, 2, "cgroup cpu.max 800000/100000, 2 CPUs allowed"},
           BudgetRow{8, 5'000, 1, "cgroup cpu.max 5000/100000, 8 CPUs allowed"},
           BudgetRow{8, 0, 8, "8 CPUs allowed"},
           BudgetRow{1, 0, 1, "1 CPU allowed"},
           BudgetRow{0, 0, 1, "0 CPUs allowed"},
       }) {
    CpuBudget budget;
    budget.allowed_count = row.allowed_count;
    if (row.quota_us > 0) budget.quota = CpuQuota{row.quota_us, 100'000, "cpu.max"};
    EXPECT_EQ(budget.usable_count(), row.count);
    EXPECT_EQ(budget.describe(), row.description);
  }
}

/// Puts the affinity mask back.
class AffinityKept {
 public:
  AffinityKept() { ::sched_getaffinity(0, sizeof mask_, &mask_); }
  AffinityKept(const AffinityKept&) = delete;
  AffinityKept& operator=(const AffinityKept&) = delete;
  ~AffinityKept() { ::sched_setaffinity(0, sizeof mask_, &mask_); }

 private:
  cpu_set_t mask_{};
};

TEST(AllowedCpus, AreThoseOfTheAffinityMask) {
  const AffinityKept affinity;
  const std::vector<int> all = allowed_cpus();
  ASSERT_FALSE(all.empty());
  EXPECT_TRUE(std::ranges::is_sorted(all));
  for (const int cpu : all) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(cpu), &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(allowed_cpus(), std::vector<int>{cpu});
    EXPECT_EQ(read_cpu_budget().allowed_count, 1U);
    EXPECT_EQ(read_cpu_budget().usable_count(), 1U);
  }
}

}  // namespace
}  // namespace rest_echo::cluster
