// `factor: auto` follows R: a store, a read-ahead and a trainer as a small model in simulated time,
// whose store becomes slower and faster at random.
#include "engine/stream/auto_factor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/stats/ratio_meter.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kTickNs = 10'000'000;
constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint32_t kBatchRows = 64;
constexpr std::uint32_t kFactorMax = 6000;

// Fresh batches go from the store into the read-ahead, and from there in parts of 1/e to the
// trainer. The time of a request varies, and is known only at its end.
class Model {
 public:
  explicit Model(unsigned seed) : random_(seed) {}

  void set_ratio(double ratio) { ratio_ = ratio; }
  bool is_settled() const {
    const double wanted = std::clamp(ratio_, 1.0, kFactorMax / 1000.0);
    return std::abs(factor() / wanted - 1) <= 0.1;
  }
  int changes() const { return changes_; }

  void run(double seconds) {
    const std::uint64_t until_ns =
        now_ns_ + static_cast<std::uint64_t>(seconds * static_cast<double>(kSecondNs));
    while (now_ns_ < until_ns) tick();
  }

 private:
  double factor() const { return factor_ / 1000.0; }

  static constexpr double kStepNs = 150e6;     // of the trainer
  static constexpr double kAheadBatches = 40;  // at most
  static constexpr double kRequestBatches = 0.5;

  void tick() {
    now_ns_ += kTickNs;
    fetch();
    train();
    totals_.first = {totals_.fetch.units * 100'000, totals_.fetch.units};
    totals_.records = totals_.record_bytes = totals_.fetch.units;  // a byte each
    ratio_meter_.see(totals_);
    const auto changed = auto_factor_.look(now_ns_, {.factor = factor_,
                                                     .is_everywhere = true,
                                                     .ratio = ratio_meter_.ratio(),
                                                     .error = ratio_meter_.error()});
    if (!changed.has_value()) return;
    factor_ = *changed;
    ++changes_;
  }

  // Refills the read-ahead from three quarters on, as a pass does.
  void fetch() {
    if (ahead_ <= 0.75 * kAheadBatches) refilling_ = true;
    if (ahead_ >= kAheadBatches) refilling_ = false;
    if (!refilling_) return;
    in_flight_ns_ += static_cast<double>(kTickNs);
    totals_.fetch.spent_ns += kTickNs;
    if (in_flight_ns_ < request_ns_) return;
    in_flight_ns_ -= request_ns_;
    ahead_ += kRequestBatches;
    totals_.fetch.units += static_cast<std::uint64_t>(kRequestBatches * kBatchRows);
    std::normal_distribution<double> noise(1, 0.07);
    request_ns_ = ratio_ * kStepNs * kRequestBatches * std::clamp(noise(random_), 0.7, 1.3);
  }

  void train() {
    const double fresh = 1 / factor();
    if (step_ns_ <= 0) {
      if (ahead_ < fresh) return;  // waits
      ahead_ -= fresh;
      step_ns_ += kStepNs;
    }
    step_ns_ -= static_cast<double>(kTickNs);
    totals_.trained.spent_ns += kTickNs;
    if (step_ns_ <= 0) ++totals_.trained.units;
  }

  std::mt19937 random_;
  RatioMeter ratio_meter_{{.batch_rows = kBatchRows, .workers = 2}};
  AutoFactor auto_factor_{kFactorMax};
  RatioMeter::Totals totals_;
  std::uint64_t now_ns_ = kSecondNs;
  std::uint32_t factor_ = kFactorMax;
  int changes_ = 0;
  double ratio_ = 1;
  double ahead_ = 0;
  double in_flight_ns_ = 0;
  double request_ns_ = 1e8;
  double step_ns_ = 0;
  bool refilling_ = true;
};

// The store's rate changes by a factor of 1/8 to 8, a thousand times. Measurements are noisy, so a
// few of these changes take longer, or an additional step.
TEST(AutoFactor, FollowsTheStoreWithinTenSecondsAndWithFewChanges) {
  int late = 0, wrong = 0, restless = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> exponent(-3, 3), pause(5, 60);
    Model model(seed);
    model.run(20);
    double ratio = 1;
    for (int step = 0; step < 20; ++step) {
      ratio = std::clamp(ratio * std::exp2(exponent(random)), 0.5, 12.0);
      model.set_ratio(ratio);
      const int before = model.changes();
      model.run(10);
      late += model.is_settled() ? 0 : 1;
      model.run(pause(random));
      wrong += model.is_settled() ? 0 : 1;
      restless += model.changes() - before > 2 ? 1 : 0;
    }
  }
  EXPECT_LE(late, 10);
  EXPECT_LE(wrong, 5);
  EXPECT_LE(restless, 10);
}

TEST(AutoFactor, IsNearRSixSecondsAfterTheStart) {
  int late = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Model model(seed);
    model.set_ratio(3);
    model.run(6);
    late += model.is_settled() ? 0 : 1;
  }
  EXPECT_LE(late, 15);
}

// Fetching a batch takes the time of three steps in the first epoch, and none from the second on.
TEST(RatioMeter, FollowsACacheThatHoldsAllRecords) {
  RatioMeter meter({.batch_rows = kBatchRows, .workers = 2});
  RatioMeter::Totals totals;
  const auto run = [&](int batches, std::uint64_t fetch_ns) {
    for (int batch = 0; batch < batches; ++batch) {
      totals.fetch.spent_ns += fetch_ns;
      totals.fetch.units += kBatchRows;
      totals.records = totals.record_bytes = totals.fetch.units;  // a byte each
      totals.first = {totals.first.spent_ns + 1'000'000, totals.fetch.units};
      totals.trained = {totals.trained.spent_ns + 100'000'000, totals.trained.units + 1};
      meter.see(totals);
    }
  };
  run(200, 300'000'000);
  EXPECT_NEAR(meter.ratio(), 3, 0.01);
  run(400, 0);
  EXPECT_GT(meter.ratio(), 0) << "0 is unknown";
  EXPECT_LT(meter.ratio(), 0.1);
  EXPECT_LT(meter.error(), 0.1);
}

// A record takes 10 us to fetch and 8 ms of two workers to decode; a step of the trainer 100 ms.
TEST(RatioMeter, KnowsRWhereDecodingIsTheLimitAndTheStoreIsHardlyBusy) {
  RatioMeter meter({.batch_rows = kBatchRows, .workers = 2});
  for (std::uint64_t batch = 1; batch <= 40; ++batch) {
    const std::uint64_t rows = batch * kBatchRows;
    meter.see({.fetch = {rows * 10'000, rows},
               .records = rows,
               .record_bytes = rows,
               .first = {rows * 8'000'000, rows},
               .again = {},
               .trained = {batch * 100'000'000, batch}});
  }
  EXPECT_NEAR(meter.ratio(), kBatchRows * 4e6 / 100e6, 0.01);
  EXPECT_LT(meter.error(), 0.05);
}

// What is fetched is five times as large as the records of the data set, then fifty times, as in a
// mixture whose weights change. A byte takes as long.
TEST(RatioMeter, FollowsTheMeanSizeOfRecords) {
  RatioMeter meter({.batch_rows = kBatchRows, .workers = 2});
  RatioMeter::Totals totals;
  const auto run = [&](int batches, std::uint64_t record_bytes) {
    for (int batch = 0; batch < batches; ++batch) {
      const std::uint64_t bytes = kBatchRows * record_bytes;
      totals.records += kBatchRows;
      totals.record_bytes += bytes;
      totals.fetch = {totals.fetch.spent_ns + bytes * 5'000'000, totals.record_bytes};
      totals.first = {totals.first.spent_ns + 1'000'000, totals.records};
      totals.trained = {totals.trained.spent_ns + 100'000'000, totals.trained.units + 1};
      meter.see(totals);
    }
  };
  run(8, 5);
  EXPECT_NEAR(meter.ratio(), kBatchRows * 25e6 / 100e6, 0.1) << "from the first batches on";
  run(200, 50);
  EXPECT_NEAR(meter.ratio(), kBatchRows * 250e6 / 100e6, 1);
}

TEST(AutoFactor, ChangesNothingBeforeRIsKnownAndWaitsAfterARefusal) {
  AutoFactor factor(kFactorMax);
  EXPECT_FALSE(factor.look(kSecondNs, {.factor = 1000, .ratio = 0, .error = 0.01}));
  const AutoFactor::Seen seen{.factor = 1000, .ratio = 3.02, .error = 0.01};
  EXPECT_EQ(factor.look(2 * kSecondNs, seen), 3000U);
  factor.note_refused(2 * kSecondNs);
  EXPECT_FALSE(factor.look(6 * kSecondNs, seen));
  EXPECT_EQ(factor.look(8 * kSecondNs, seen), 3000U);
}

TEST(AutoFactor, GivesAllPassesTheSameFactor) {
  AutoFactor factor(kFactorMax);
  EXPECT_EQ(
      factor.look(kSecondNs, {.factor = 3000, .is_everywhere = false, .ratio = 3, .error = 0.01}),
      3000U);
}

TEST(AutoFactor, FallsToTheHighestRAfterItWasLowerForAWhile) {
  AutoFactor factor(kFactorMax);
  const auto look = [&](double seconds, double ratio) {
    return factor.look(static_cast<std::uint64_t>(seconds * static_cast<double>(kSecondNs)),
                       {.factor = 5000, .ratio = ratio, .error = 0.01});
  };
  EXPECT_FALSE(look(1, 2));
  EXPECT_FALSE(look(3, 5)) << "R was as high as the factor: the time begins again";
  EXPECT_FALSE(look(4, 4)) << "the first half does not count";
  EXPECT_FALSE(look(6, 2));
  EXPECT_FALSE(look(7, 3));
  EXPECT_EQ(look(8, 2), 3000U);
  EXPECT_EQ(look(8.5, 5.5), std::nullopt) << "within the dwell";
  EXPECT_EQ(look(12, 5.5), 5500U) << "a rise needs no time";
}

TEST(AutoFactor, FallsToARecentRAfterARefusal) {
  AutoFactor factor(kFactorMax);
  const auto look = [&](std::uint64_t second, double ratio) {
    return factor.look(second * kSecondNs, {.factor = 5000, .ratio = ratio, .error = 0.01});
  };
  for (std::uint64_t second = 1; second < 5; ++second) EXPECT_FALSE(look(second, 4));
  EXPECT_EQ(look(5, 4), 4000U);
  factor.note_refused(5 * kSecondNs);
  for (std::uint64_t second = 6; second < 11; ++second) EXPECT_FALSE(look(second, 2));
  EXPECT_EQ(look(11, 2), 2000U);
}

TEST(AutoFactor, TimeWithoutALookDoesNotCount) {
  AutoFactor factor(kFactorMax);
  const AutoFactor::Seen lower{.factor = 5000, .ratio = 2, .error = 0.01};
  EXPECT_FALSE(factor.look(kSecondNs, lower));
  for (std::uint64_t second = 100; second < 104; ++second)
    EXPECT_FALSE(factor.look(second * kSecondNs, lower));
  EXPECT_EQ(factor.look(104 * kSecondNs, lower), 2000U);
}

TEST(AutoFactor, StaysWithinItsBounds) {
  AutoFactor low(kFactorMax), high(kFactorMax);
  const AutoFactor::Seen lower{.factor = 2000, .ratio = 0.01, .error = 0.01};
  for (std::uint64_t second = 1; second < 5; ++second)
    EXPECT_FALSE(low.look(second * kSecondNs, lower));
  EXPECT_EQ(low.look(5 * kSecondNs, lower), 1000U);
  EXPECT_EQ(high.look(kSecondNs, {.factor = 2000, .ratio = 1e12, .error = 0.01}), kFactorMax);
}

}  // namespace
}  // namespace echoline::engine
