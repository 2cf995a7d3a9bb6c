#include "engine/runtime/memory_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

namespace echoline::engine {
namespace {

TEST(MemoryBudget, RefusesWithNeedAndHave) {
  MemoryBudget budget(10 << 20);
  Result<MemoryBudget::Reservation> first = budget.reserve(6 << 20, "stream a");
  ASSERT_TRUE(first.ok());
  const Result<MemoryBudget::Reservation> second = budget.reserve(5 << 20, "stream b");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), Code::kResourceExhausted);
  EXPECT_THAT(second.status().message(), testing::AllOf(testing::HasSubstr("stream b needs 5MiB"),
                                                        testing::HasSubstr("4MiB of 10MiB is free"),
                                                        testing::HasSubstr("lacks 1MiB")));
}

TEST(MemoryBudget, GetsBytesBackWhenAReservationGoes) {
  MemoryBudget budget(100);
  {
    const auto reservation = budget.reserve(100, "all");
    EXPECT_EQ(budget.reserved_bytes(), 100U);
  }
  EXPECT_EQ(budget.reserved_bytes(), 0U);
  EXPECT_EQ(budget.reserve_up_to(100, 30).bytes(), 100U);
  EXPECT_EQ(budget.reserve_up_to(500, 30).bytes(), 70U);
  EXPECT_EQ(budget.reserve_up_to(500, 300).bytes(), 0U);
  EXPECT_EQ(budget.reserve_spare(50, 30).bytes(), 50U);
  EXPECT_EQ(budget.reserve_spare(80, 30).bytes(), 70U);
  EXPECT_EQ(budget.reserve_spare(1, 300).bytes(), 0U);
  EXPECT_EQ(budget.reserved_bytes(), 0U);
}

TEST(MemoryBudget, ReclaimsIdleMemoryBeforeItRefuses) {
  MemoryBudget budget(100);
  std::vector<MemoryBudget::Reservation> idle;
  for (int i = 0; i < 4; ++i) idle.push_back(std::move(budget.reserve(25, "idle")).value());
  budget.set_reclaim([&] {
    if (idle.empty()) return false;
    idle.pop_back();
    return true;
  });
  EXPECT_EQ(budget.reserve_up_to(10, 0).bytes(), 0U) << "what can do with less takes nothing away";
  const auto needed = budget.reserve(40, "needed");
  EXPECT_TRUE(needed.ok());
  EXPECT_EQ(idle.size(), 2U) << "as much as it needs, not more";
  EXPECT_FALSE(budget.reserve(101, "too large").ok());
  EXPECT_EQ(idle.size(), 2U) << "that would not help";
  EXPECT_FALSE(budget.reserve(70, "more than is idle").ok());
  EXPECT_TRUE(idle.empty());
}

TEST(MemoryBudget, AReservationCanGiveBackAPart) {
  MemoryBudget budget(100);
  MemoryBudget::Reservation part = budget.reserve(80, "a cache").value();
  part.keep(30);
  EXPECT_EQ(part.bytes(), 30U);
  EXPECT_EQ(budget.reserved_bytes(), 30U);
  part.keep(50);
  EXPECT_EQ(part.bytes(), 30U) << "it never grows";
}

// A daemon in a container of 200 MiB on a machine of 1 GiB.
TEST(MemoryBudget, MustFitIntoTheContainerBesideTheProcess) {
  const std::filesystem::path root =
      std::filesystem::path(testing::TempDir()) / ("echoline-fits-" + std::to_string(::getpid()));
  std::filesystem::create_directories(root / "proc/self");
  std::filesystem::create_directories(root / "cgroup");
  std::ofstream(root / "proc/meminfo") << "MemTotal: 1048576 kB\n";
  std::ofstream(root / "proc/self/cgroup") << "0::/\n";
  std::ofstream(root / "cgroup/memory.max") << (200 << 20) << "\n";
  const KernelFolders folders{root / "proc", root / "cgroup"};
  EXPECT_TRUE(check_budget_fits(152 << 20, folders).ok());
  const Status status = check_budget_fits(512 << 20, folders);
  std::filesystem::remove_all(root);
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  EXPECT_THAT(status.message(), testing::AllOf(testing::HasSubstr("daemon.memory is 512MiB"),
                                               testing::HasSubstr("the control group"),
                                               testing::HasSubstr("has 200MiB"),
                                               testing::HasSubstr("360MiB are missing")));
}

}  // namespace
}  // namespace echoline::engine
