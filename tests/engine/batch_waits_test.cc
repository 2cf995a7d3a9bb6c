// A trainer's wait for each batch, from looks at its cursor page.
#include "engine/stats/batch_waits.h"

#include <gtest/gtest.h>

#include <numeric>

namespace echoline::engine {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

ring::ReaderView page(std::uint64_t batches, std::uint64_t ended_ms, std::uint64_t since_ms = 0) {
  ring::ReaderView view;
  view.batches = batches;
  view.wait_ns = ended_ms * kMs;
  view.waiting_since_ns = since_ms * kMs;
  return view;
}

std::uint64_t count(const BatchWaits& waits) {
  return std::accumulate(waits.times().counts.begin(), waits.times().counts.end(),
                         std::uint64_t{0});
}

// Batches whose bucket has this bound.
std::uint64_t in_bucket(const BatchWaits& waits, double bound) {
  return waits.times()
      .counts[bucket_of(source::kLatencyBounds, static_cast<std::uint64_t>(bound * 1e9))];
}

TEST(BatchWaits, ABatchThatWasThereCountsAsAWaitOfZero) {
  BatchWaits waits;
  waits.see(page(1, 0), 10 * kMs);
  waits.see(page(4, 0), 20 * kMs);
  EXPECT_EQ(in_bucket(waits, 0.001), 4U);
  EXPECT_EQ(waits.times().sum_ns, 0U);
}

TEST(BatchWaits, ALongWaitIsCountedWhenItsBatchComesAndNotSharedWithTheBatchesAfterIt) {
  BatchWaits waits;
  waits.see(page(0, 0, 5), 10 * kMs);
  waits.see(page(0, 0, 5), 2000 * kMs);
  EXPECT_EQ(count(waits), 0U);
  // The wait has ended after 2 s, and 7 more batches were there at once.
  waits.see(page(8, 2000), 2010 * kMs);
  EXPECT_EQ(in_bucket(waits, 2.5), 1U);
  EXPECT_EQ(in_bucket(waits, 0.001), 7U);
  EXPECT_NEAR(static_cast<double>(waits.times().sum_ns), 2000.0 * kMs, 10);
}

TEST(BatchWaits, AWaitInSeveralCallsIsOneWait) {
  BatchWaits waits;
  waits.see(page(0, 0, 5), 10 * kMs);
  waits.see(page(0, 50), 60 * kMs);        // between two calls
  waits.see(page(0, 50, 58), 70 * kMs);    // the next call
  waits.see(page(1, 95, 112), 120 * kMs);  // and the wait for the batch after it
  waits.see(page(2, 103), 130 * kMs);
  EXPECT_EQ(in_bucket(waits, 0.1), 1U);
  EXPECT_EQ(in_bucket(waits, 0.01), 1U);
  EXPECT_EQ(waits.times().sum_ns, 103 * kMs);
}

TEST(BatchWaits, ShortWaitsBetweenTwoLooksAreDividedAmongTheirBatches) {
  BatchWaits waits;
  waits.see(page(4, 8), 10 * kMs);
  EXPECT_EQ(in_bucket(waits, 0.0025), 4U);
  EXPECT_EQ(waits.times().sum_ns, 8 * kMs);
}

TEST(BatchWaits, ImpossibleWordsOfATrainerAddNothing) {
  BatchWaits waits;
  waits.see(page(5, 100), 10 * kMs);
  waits.see(page(2, 40, 900), 20 * kMs);  // less than before, and a wait from the future
  EXPECT_EQ(count(waits), 5U);
  EXPECT_EQ(waits.times().sum_ns, 100 * kMs);
}

}  // namespace
}  // namespace echoline::engine
