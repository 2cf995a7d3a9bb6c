#include "ring/memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "ring/available_memory.h"
#include "small_ring.h"

namespace echoline::ring {
namespace {

namespace fs = std::filesystem;

// A temporary folder with files like those in /proc and /sys/fs/cgroup.
class FreeMemoryTree : public testing::Test {
 protected:
  FreeMemoryTree()
      : root_(fs::path(testing::TempDir()) / ("echoline_memory_" + std::to_string(getpid()))) {}
  ~FreeMemoryTree() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  MemoryBound look() const { return available_memory({root_ / "proc", root_ / "cgroup"}); }

  fs::path root_;
};

TEST_F(FreeMemoryTree, IsTheMachinesIfNoGroupHasALimit) {
  write("proc/meminfo", "MemTotal: 4096 kB\nMemAvailable:    1024 kB\n");
  write("proc/self/cgroup", "0::/a\n");
  write("cgroup/a/memory.max", "max\n");
  write("cgroup/a/memory.current", "5000\n");
  EXPECT_EQ(look().bytes, 1024U * 1024U);
  EXPECT_EQ(look().limit, "the machine");
}

TEST_F(FreeMemoryTree, IsTheSmallestOfAllParentGroupsAndDroppableCacheIsFree) {
  write("proc/meminfo", "MemAvailable:    1024 kB\n");
  write("proc/self/cgroup", "0::/a/b\n");
  write("cgroup/a/memory.max", "10000\n");
  write("cgroup/a/memory.current", "9000\n");
  write("cgroup/a/memory.stat", "anon 1\ninactive_file 3000\nactive_file 1000\n");
  write("cgroup/a/b/memory.max", "900000\n");
  write("cgroup/a/b/memory.current", "0\n");
  EXPECT_EQ(look().bytes, 5000U);
  EXPECT_NE(look().limit.find("cgroup/a"), std::string::npos);
}

TEST_F(FreeMemoryTree, OfVersionOneIsReadFromTheMemoryController) {
  write("proc/meminfo", "MemAvailable:    1024 kB\n");
  write("proc/self/cgroup", "9:cpu:/x\n4:memory:/pod\n0::/\n");
  write("cgroup/memory/pod/memory.limit_in_bytes", "7000\n");
  write("cgroup/memory/pod/memory.usage_in_bytes", "8000\n");
  write("cgroup/memory/pod/memory.stat", "total_inactive_file 2000\n");
  EXPECT_EQ(look().bytes, 1000U);
}

TEST_F(FreeMemoryTree, InAContainerTheMountsRootIsTheGroup) {
  write("proc/meminfo", "MemAvailable:    1024 kB\n");
  write("proc/self/cgroup", "0::/host/path/of/the/container\n");
  write("cgroup/memory.max", "6000\n");
  write("cgroup/memory.current", "1000\n");
  EXPECT_EQ(look().bytes, 5000U);
}

TEST_F(FreeMemoryTree, TheTotalIsTheSmallestLimitIncludingMemoryInUse) {
  write("proc/meminfo", "MemTotal: 4096 kB\nMemAvailable:    1024 kB\n");
  write("proc/self/cgroup", "0::/a/b\n");
  EXPECT_EQ(whole_memory({root_ / "proc", root_ / "cgroup"}).bytes, 4096U * 1024U);
  write("cgroup/a/memory.max", "10000\n");
  write("cgroup/a/b/memory.max", "max\n");
  write("cgroup/a/memory.current", "9000\n");
  const MemoryBound whole = whole_memory({root_ / "proc", root_ / "cgroup"});
  EXPECT_EQ(whole.bytes, 10000U);
  EXPECT_NE(whole.limit.find("cgroup/a"), std::string::npos);
}

TEST_F(FreeMemoryTree, ARingThatDoesNotFitIsRefusedBeforeAllocation) {
  write("proc/meminfo", "MemAvailable:    65536 kB\n");
  const auto memory =
      make_shared_memory("test", std::uint64_t{100} << 20, {root_ / "proc", root_ / "cgroup"});
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.status().code(), Code::kResourceExhausted);
  EXPECT_NE(memory.status().message().find("need 100.0 MiB, have 48.0 MiB"), std::string::npos)
      << memory.status().message();
}

RingSpec huge_spec(std::uint64_t gib) {
  RingSpec spec = small_spec(static_cast<std::uint32_t>(gib), 1024);
  spec.fields = {field("image", shm::kUint8, {1024, 1024})};
  return spec;
}

TEST(FullMemory, ARingLargerThanTheMachineIsRefusedAtOnce) {
  const Result<std::unique_ptr<Ring>> ring = Ring::create(huge_spec(8000));
  ASSERT_FALSE(ring.ok());
  EXPECT_EQ(ring.status().code(), Code::kResourceExhausted);
  EXPECT_NE(ring.status().message().find("need"), std::string::npos);
}

// Runs `body` in a child process and returns its exit status.
int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#if !defined(ECHOLINE_SANITIZE_ADDRESS) && !defined(ECHOLINE_SANITIZE_THREAD)
TEST(FullMemory, AFullAddressSpaceIsAnErrorNotAFault) {
  EXPECT_EQ(in_child([] {
              const rlimit limit{512 << 20, 512 << 20};
              setrlimit(RLIMIT_AS, &limit);
              RingSpec spec = small_spec(320, 1);
              spec.fields = {field("image", shm::kUint8, {1024, 1024})};  // 320 MiB, mapped twice
              const auto ring = Ring::create(spec);
              return ring.ok() ? 1 : ring.status().code() == Code::kResourceExhausted ? 0 : 2;
            }),
            0);
}
#endif

// A control group (version 1 or 2) with a limit of 64 MiB for one test. Not ok() if this process
// may not create one.
class SmallGroup {
 public:
  SmallGroup() {
    for (const bool second : {false, true}) {
      const fs::path mount = second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
      if (!fs::exists(mount / (second ? "cgroup.controllers" : "memory.limit_in_bytes"))) continue;
      group_ = own_group(mount, second) / ("echoline_test_" + std::to_string(getpid()));
      std::error_code error;
      if (!fs::create_directory(group_, error)) continue;
      std::ofstream limit(group_ / (second ? "memory.max" : "memory.limit_in_bytes"));
      ok_ = static_cast<bool>(limit << (64 << 20) << std::flush);
      if (ok_) return;
    }
  }
  ~SmallGroup() {
    std::error_code error;
    if (!group_.empty()) fs::remove(group_, error);
  }
  bool ok() const { return ok_; }
  bool enter() const {
    std::ofstream procs(group_ / "cgroup.procs");
    return static_cast<bool>(procs << getpid() << std::flush);
  }

 private:
  static fs::path own_group(const fs::path& mount, bool second) {
    std::ifstream groups("/proc/self/cgroup");
    std::string line;
    while (std::getline(groups, line)) {
      const std::size_t at = line.find(second ? "::/" : ":memory:/");
      if (at == std::string::npos) continue;
      const fs::path path = mount / line.substr(at + (second ? 3 : 9));
      if (fs::exists(path)) return path;
    }
    return mount;
  }

  fs::path group_;
  bool ok_ = false;
};

TEST(FullMemory, ARingLargerThanTheControlGroupIsRefusedAndNoProcessIsKilled) {
  const SmallGroup group;
  if (!group.ok()) GTEST_SKIP() << "no right to make a control group here";
  const int status = in_child([&] {
    if (!group.enter()) return 77;
    RingSpec spec = small_spec(128, 1);
    spec.fields = {field("image", shm::kUint8, {1024, 1024})};
    const auto ring = Ring::create(spec);
    if (ring.ok()) return 1;
    return ring.status().message().find("control group") != std::string::npos ? 0 : 2;
  });
  if (status == 77) GTEST_SKIP() << "no right to enter a control group here";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace echoline::ring
