// Which stage of a stream works, starves or is blocked, from what each tick sees.
#include "engine/stats/stage_clock.h"

#include <gtest/gtest.h>

#include "engine/small_stream.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

class StageClockTest : public testing::Test {
 protected:
  StageStats stage(const StageClock& clock, const std::string& name) {
    for (const StageStats& stage : clock.stages()) {
      if (stage.stage == name) return stage;
    }
    ADD_FAILURE() << name;
    return {};
  }

  SmallStream small_;
  const std::shared_ptr<StreamCore> core_ = small_.open().core;
  StageClock clock_{*core_, 2};
};

TEST_F(StageClockTest, TheFirstTickCountsNothing) {
  clock_.tick(5000 * kMs, {.held_up = true});
  for (const StageStats& stage : clock_.stages()) {
    EXPECT_EQ(stage.busy_ns + stage.starved_ns + stage.blocked_ns, 0U) << stage.stage;
  }
}

TEST_F(StageClockTest, AFullRingBlocksAllStages) {
  clock_.tick(1000 * kMs, {});
  clock_.tick(1010 * kMs, {.held_up = true});
  EXPECT_EQ(stage(clock_, "publish").blocked_ns, 10 * kMs);
  EXPECT_EQ(stage(clock_, "prep").blocked_ns, 20 * kMs) << "two workers";
  EXPECT_EQ(stage(clock_, "fetch").blocked_ns, 10 * kMs);
}

TEST_F(StageClockTest, ATrainerThatWaitsForBytesStarvesTheStagesBelow) {
  clock_.tick(1000 * kMs, {});
  clock_.tick(1010 * kMs, {.fetch_waits = true});
  EXPECT_EQ(stage(clock_, "fetch").starved_ns, 10 * kMs);
  EXPECT_EQ(stage(clock_, "prep").starved_ns, 20 * kMs);
  EXPECT_EQ(stage(clock_, "publish").starved_ns, 10 * kMs);
}

TEST_F(StageClockTest, TimeOfTheWorkersIsBusyAndNeverMoreThanTheClocks) {
  clock_.tick(1000 * kMs, {});
  core_->counters->prepare_first_ns.fetch_add(50 * kMs);
  clock_.tick(1010 * kMs, {});
  EXPECT_EQ(stage(clock_, "prep").busy_ns, 20 * kMs);
  clock_.tick(1100 * kMs, {});
  EXPECT_EQ(stage(clock_, "prep").busy_ns, 50 * kMs) << "the rest counts with the next tick";
}

TEST_F(StageClockTest, PublishingIsBusyOnlyWhileBatchesAreFinished) {
  clock_.tick(1000 * kMs, {});
  core_->counters->publish_ns.fetch_add(3 * kMs);
  clock_.tick(1010 * kMs, {});
  EXPECT_EQ(stage(clock_, "publish").busy_ns, 3 * kMs);
  EXPECT_EQ(stage(clock_, "publish").starved_ns, 7 * kMs);
}

TEST_F(StageClockTest, TheRatioIsUnknownBeforeAnyBatch) { EXPECT_EQ(clock_.ratio().ratio(), 0.0); }

}  // namespace
}  // namespace echoline::engine
