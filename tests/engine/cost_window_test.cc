// Costs of work that becomes dearer or cheaper, with and without noise.
#include "engine/stats/cost_window.h"

#include <gtest/gtest.h>

#include <random>

namespace echoline::engine {
namespace {

constexpr std::uint64_t kSampleNs = 1'000'000;
constexpr CostWindow::Sample kSample{.least = {kSampleNs, 1}};

// One unit of work in each sample.
class Work {
 public:
  explicit Work(double deviation = 0) : noise_(1, deviation) {}

  void run(int samples, double cost) {
    for (int i = 0; i < samples; ++i) {
      total_.spent_ns += static_cast<std::uint64_t>(cost * kSampleNs * noise_(random_));
      ++total_.units;
      window.see(total_);
    }
  }
  double cost() const { return window.cost_ns() / kSampleNs; }

  CostWindow window{kSample};

 private:
  std::mt19937 random_{1};
  std::normal_distribution<double> noise_;
  CostWindow::Work total_;
};

TEST(CostWindow, KnowsNothingOfItsErrorBeforeTwoSamples) {
  Work work;
  work.run(1, 2);
  EXPECT_EQ(work.window.error(), 1);
  work.run(1, 2);
  EXPECT_LT(work.window.error(), 0.1);
  EXPECT_NEAR(work.cost(), 2, 0.001);
}

TEST(CostWindow, ALargeChangeShowsInTwoSamplesAndTheOldOnesGo) {
  Work work;
  work.run(20, 2);
  work.run(2, 4);
  EXPECT_NEAR(work.cost(), 4, 0.001);
  EXPECT_EQ(work.window.error(), 1) << "one sample is left";
}

TEST(CostWindow, AnOutlierIsNoChange) {
  Work work;
  work.run(16, 2);
  work.run(1, 6);
  work.run(1, 2);
  EXPECT_NEAR(work.cost(), 2.25, 0.001) << "the mean of 16 samples";
}

TEST(CostWindow, ASmallChangeIsFollowedByTheMean) {
  Work work;
  work.run(20, 2);
  work.run(4, 2.2);
  EXPECT_NEAR(work.cost(), 2.05, 0.001);
  work.run(12, 2.2);
  EXPECT_NEAR(work.cost(), 2.2, 0.001);
}

TEST(CostWindow, NoiseAloneChangesLittle) {
  Work work(0.2);
  work.run(16, 2);
  for (int i = 0; i < 200; ++i) {
    work.run(1, 2);
    EXPECT_NEAR(work.cost(), 2, 0.5) << i;
  }
}

TEST(CostWindow, ALargeChangeShowsUnderAnyNoise) {
  Work work(0.4);
  work.run(16, 1);
  work.run(6, 8);
  EXPECT_GT(work.cost(), 5);
}

}  // namespace
}  // namespace echoline::engine
