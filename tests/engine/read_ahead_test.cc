// A simulated trainer and store, in steps of 10 ms, against the rule of read_ahead.h.
#include "engine/walk/read_ahead.h"

#include <gtest/gtest.h>

namespace echoline::engine {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kMb = 1'000'000;
constexpr ReadAhead::Options kOptions{
    .least_bytes = 8 * kMb, .most_bytes = 256 * kMb, .cover_ns = 500 * kMs};

class Simulation {
 public:
  explicit Simulation(ReadAhead::Options options = kOptions) : ahead_(options) {}

  // A trainer that takes `rate` bytes a second from a store with this delay.
  void run(std::uint64_t seconds, std::uint64_t rate, std::uint64_t delay_ms, bool waits = false) {
    for (std::uint64_t step = 0; step < 100 * seconds; ++step) {
      now_ns_ += 10 * kMs;
      used_ += rate / 100;
      ahead_.see({now_ns_, used_, delay_ms * kMs, waits});
    }
  }
  void wait_once() {
    now_ns_ += 10 * kMs;
    ahead_.see({now_ns_, used_, 0, true});
  }
  std::uint64_t target() const { return ahead_.target_bytes(); }

 private:
  ReadAhead ahead_;
  std::uint64_t now_ns_ = 3600 * 1000 * kMs;
  std::uint64_t used_ = 0;
};

TEST(ReadAhead, BeginsWithTheLeast) {
  EXPECT_EQ(Simulation().target(), 8 * kMb);
  EXPECT_EQ(Simulation({.least_bytes = 8 * kMb, .most_bytes = kMb}).target(), kMb);
}

TEST(ReadAhead, OrWithWhatItIsToldToAndForgetsThat) {
  ReadAhead::Options options = kOptions;
  options.first_bytes = options.most_bytes;
  Simulation simulation(options);
  EXPECT_EQ(simulation.target(), 256 * kMb);
  simulation.run(300, kMb, 10);
  EXPECT_EQ(simulation.target(), 8 * kMb);
}

TEST(ReadAhead, IsFourDelaysOfUse) {
  Simulation simulation;
  simulation.run(10, 50 * kMb, 300);
  EXPECT_NEAR(static_cast<double>(simulation.target()), 60e6, 2e6);
}

TEST(ReadAhead, CoversSomeTimeOfUseHoweverFastTheSourceAnswers) {
  Simulation simulation;
  simulation.run(10, 50 * kMb, 1);
  EXPECT_NEAR(static_cast<double>(simulation.target()), 25e6, 1e6);
}

TEST(ReadAhead, StaysBetweenTheLeastAndTheMost) {
  Simulation slow;
  slow.run(10, kMb, 10);
  EXPECT_EQ(slow.target(), 8 * kMb);
  Simulation fast;
  fast.run(10, 1000 * kMb, 500);
  EXPECT_EQ(fast.target(), 256 * kMb);
}

TEST(ReadAhead, RemembersOneStraggler) {
  Simulation simulation;
  simulation.run(10, 20 * kMb, 20);
  simulation.run(1, 20 * kMb, 1000);
  simulation.run(10, 20 * kMb, 20);
  EXPECT_GT(simulation.target(), 60 * kMb);
}

TEST(ReadAhead, DoublesWithEachWaitAndIsAtTheBoundAfterAFewTenthsOfASecond) {
  Simulation simulation;
  simulation.run(5, kMb, 10);
  simulation.wait_once();
  EXPECT_EQ(simulation.target(), 16 * kMb);
  simulation.wait_once();
  EXPECT_LE(simulation.target(), 16 * kMb) << "what was ordered for the first cannot have come";
  simulation.run(1, 0, 10, true);
  EXPECT_GT(simulation.target(), 255 * kMb);
}

TEST(ReadAhead, ComesBackSlowlyWhenNobodyWaitsAnyMore) {
  Simulation simulation;
  simulation.run(1, 10 * kMb, 10, true);
  EXPECT_GT(simulation.target(), 255 * kMb);
  simulation.run(10, 10 * kMb, 10);
  EXPECT_GT(simulation.target(), 180 * kMb);
  simulation.run(290, 10 * kMb, 10);
  EXPECT_EQ(simulation.target(), 8 * kMb);
}

TEST(ReadAhead, APauseOfTheTrainerIsNoReasonToForget) {
  Simulation simulation;
  simulation.run(10, 100 * kMb, 100);
  const std::uint64_t before = simulation.target();
  simulation.run(5, 0, 0);
  EXPECT_GT(simulation.target(), before * 3 / 4);
}

}  // namespace
}  // namespace echoline::engine
