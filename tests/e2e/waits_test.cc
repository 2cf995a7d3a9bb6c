// The waits that the daemon counts for a trainer are those that the trainer measures itself, also
// over restarts of the daemon and moves to other passes.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "e2e/rig.h"
#include "engine/api/stats.h"

namespace echoline::e2e {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using engine::WaitCause;

std::string steps(const std::string& publish = "") {
  return "      - shuffle: {window: 20}\n"
         "      - decode: {image: {key: u8, as: uint8, shape: [8, 8, 1]}, label: {key: cls, as: "
         "int64}}\n"
         "      - batch: {size: 8, last: drop}\n"
         "      - publish: {slots: 4" +
         publish + "}\n";
}

double seconds_of(const engine::ConsumerStats& trainer) {
  return 1e-9 * static_cast<double>(std::accumulate(trainer.wait_ns.begin(), trainer.wait_ns.end(),
                                                    std::uint64_t{0}));
}

double seconds_of(const engine::ConsumerStats& trainer, WaitCause cause) {
  return 1e-9 * static_cast<double>(trainer.wait_ns[static_cast<std::size_t>(cause)]);
}

class Waits : public testing::Test {
 protected:
  // Takes batches in calls of 50 ms, as Python does; returns the time spent in them.
  static double take(Loader& loader, int batches) {
    double waited = 0;
    while (batches > 0) {
      Batch batch;
      const auto begin = Clock::now();
      const int status = loader.next_within(milliseconds(50), batch);
      waited += std::chrono::duration<double>(Clock::now() - begin).count();
      if (status == ECHOLINE_OK) --batches;
    }
    return waited;
  }
  // After the tick that counts what was waited until now.
  engine::ConsumerStats trainer(const std::string& job) {
    std::this_thread::sleep_for(milliseconds(50));
    const engine::EngineStats stats = rig_.engine().stats();
    for (const engine::ConsumerStats& trainer : stats.streams.at(0).consumers) {
      if (trainer.job == job) return trainer;
    }
    ADD_FAILURE() << job << " is not attached";
    return {};
  }

  Rig rig_;
};

TEST_F(Waits, ForADaemonThatIsAwayAreChargedToIt) {
  ASSERT_TRUE(rig_.create("train", steps()).ok());
  Loader loader = rig_.attach("train");
  take(loader, 2);
  double waited = 0;
  {
    rig_.stop();
    // More than what the ring holds.
    const std::jthread trainer([&] { waited = take(loader, 10); });
    std::this_thread::sleep_for(milliseconds(1500));
    rig_.start();
  }
  ASSERT_GT(waited, 1.4);
  const engine::ConsumerStats counted = trainer("default");
  EXPECT_NEAR(seconds_of(counted), waited, 0.01 * waited + 0.02);
  EXPECT_GT(seconds_of(counted, WaitCause::kDaemon), 0.9 * waited);
}

TEST_F(Waits, ForASlowJobStayCountedWhenTheOthersMove) {
  ASSERT_TRUE(rig_.create("train", steps(", when_slow: split")).ok());
  Loader slow = rig_.attach("train", {.job = "slow"});
  Loader fast = rig_.attach("train", {.job = "fast"});
  const std::optional<Batch> held = slow.next();
  const double waited = take(fast, 40);
  ASSERT_GT(waited, 1.0);
  const engine::ConsumerStats counted = trainer("fast");
  EXPECT_NEAR(seconds_of(counted), waited, 0.01 * waited + 0.03);
  EXPECT_GT(seconds_of(counted, WaitCause::kPeer), 0.9);
  EXPECT_EQ(counted.batches, 40U) << "of both passes";
}

// Figures on the same page as the waits.
TEST_F(Waits, LossesThatTrainersReportAreSummedByUseOverTheirAttachments) {
  ASSERT_TRUE(rig_.create("train", steps()).ok());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::string job : {"one", "two"}) {
    for (int attachment = 0; attachment < 2; ++attachment) {
      Loader loader = rig_.attach("train", {.job = job});
      const std::optional<Batch> batch = loader.next();
      EXPECT_EQ(loader.report(std::vector<float>(batch->rows(), 0.25F), batch->uses()), 8U);
      EXPECT_EQ(loader.report(std::array{1.0F, nan, 3.0F}, std::array{1U, 1U, 99U}), 2U);
      EXPECT_THROW(loader.report(std::array{1.0F}, batch->uses()), Error);
      trainer(job);
    }
  }
  const engine::EngineStats stats = rig_.engine().stats();
  const std::vector<engine::ReportedLoss>& losses = stats.streams.at(0).reported_losses;
  ASSERT_EQ(losses.size(), 2U) << "also of jobs that have left";
  EXPECT_EQ(losses[0].job, "one");
  EXPECT_EQ(losses[0].rows[0], 16U);
  EXPECT_EQ(losses[0].sums[0], 4.0);
  EXPECT_EQ(losses[0].rows[1], 2U);
  EXPECT_EQ(losses[0].sums[shm::kLossUses - 1], 6.0);
}

TEST_F(Waits, AContinuousWaitIsCountedOnceOverAMove) {
  ASSERT_TRUE(rig_.create("train", steps(", when_slow: detach")).ok());
  Loader slow = rig_.attach("train", {.job = "slow"});
  Loader fast = rig_.attach("train", {.job = "fast"});
  const std::optional<Batch> held = slow.next();
  const auto begin = Clock::now();
  read_batches(fast, 10);
  const double waited = std::chrono::duration<double>(Clock::now() - begin).count();
  const engine::ConsumerStats counted = trainer("fast");
  EXPECT_LE(seconds_of(counted), waited + 0.01);
  EXPECT_GT(seconds_of(counted), 1.0);
}

}  // namespace
}  // namespace echoline::e2e
