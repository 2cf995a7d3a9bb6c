// The number of processors with artificial trees of /proc and /sys/fs/cgroup.
#include "base/processors.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace echoline {
namespace {

namespace fs = std::filesystem;

class Processors : public ::testing::Test {
 protected:
  Processors() {
    std::string name = (fs::temp_directory_path() / "echoline-processors-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  ~Processors() override { fs::remove_all(root_); }

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  std::uint32_t of(std::uint32_t machine) const {
    return usable_processors(machine, {root_ / "proc", root_ / "cgroup"});
  }

  fs::path root_;
};

TEST_F(Processors, AreTheMachinesWhereNoGroupBoundsThem) {
  EXPECT_EQ(of(8), 8U);
  EXPECT_EQ(of(0), 1U);
  write("proc/self/cgroup", "0::/pod\n");
  EXPECT_EQ(of(8), 8U);
  write("cgroup/pod/cpu.max", "max 100000\n");
  EXPECT_EQ(of(8), 8U);
}

TEST_F(Processors, AreTheQuotaRoundedUpAndAtLeastOne) {
  write("proc/self/cgroup", "0::/pod\n");
  for (const auto& [quota, count] : {std::pair{"400000", 4U},
                                     {"150000", 2U},
                                     {"100001", 2U},
                                     {"100000", 1U},
                                     {"1000", 1U},
                                     {"6400000", 8U}}) {
    write("cgroup/pod/cpu.max", quota + std::string(" 100000\n"));
    EXPECT_EQ(of(8), count) << quota;
  }
  write("cgroup/pod/cpu.max", "30000 10000\n");
  EXPECT_EQ(of(8), 3U);
  for (const char* broken : {"", "nonsense", "400000", "0 100000", "400000 0", "-1 100000"}) {
    write("cgroup/pod/cpu.max", broken);
    EXPECT_EQ(of(8), 8U) << broken;
  }
}

TEST_F(Processors, AreBoundedByEveryGroupAboveToo) {
  write("proc/self/cgroup", "0::/slice/pod/daemon\n");
  write("cgroup/slice/pod/daemon/cpu.max", "500000 100000\n");
  write("cgroup/slice/cpu.max", "200000 100000\n");
  EXPECT_EQ(of(8), 2U);
  EXPECT_EQ(of(1), 1U);
}

// In a container the group is the root of the mounted tree, while /proc can show the host's path.
TEST_F(Processors, AreBoundedByTheRootOfAContainer) {
  write("proc/self/cgroup", "0::/../../host/path\n");
  write("cgroup/cpu.max", "250000 100000\n");
  EXPECT_EQ(of(8), 3U);
}

TEST_F(Processors, AreBoundedByGroupsOfVersion1) {
  write("proc/self/cgroup", "9:memory:/pod\n4:cpu,cpuacct:/pod\n2:cpuset:/\n0::/\n");
  write("cgroup/cpu,cpuacct/pod/cpu.cfs_period_us", "100000\n");
  write("cgroup/cpu,cpuacct/pod/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(of(8), 8U);
  write("cgroup/cpu,cpuacct/pod/cpu.cfs_quota_us", "310000\n");
  EXPECT_EQ(of(8), 4U);
}

}  // namespace
}  // namespace echoline
