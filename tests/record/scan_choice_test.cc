// How an index pass chooses between reading shards through and hopping from header to header.
#include "record/index/scan_choice.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace echoline::record {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kMegabyte = 1'000'000;

// A store that gives each mode its own rate, in steps of ten milliseconds.
class Store {
 public:
  Store(double gain, std::uint64_t read_mb_s, std::uint64_t hop_mb_s)
      : read_mb_s_(read_mb_s), hop_mb_s_(hop_mb_s), choice_(gain) {}

  // Scans until all bytes are done or the time is over; the number of changes.
  int run(std::uint64_t bytes, std::uint64_t record_bytes, std::uint64_t seconds = 100) {
    int changes = 0;
    const std::uint64_t until = now_ns_ + seconds * 1000 * kMs;
    for (std::uint64_t done = 0; done < bytes && now_ns_ < until; now_ns_ += 10 * kMs) {
      const bool hops = choice_.mode() == ScanMode::kHop;
      const std::uint64_t step = (hops ? hop_mb_s_ : read_mb_s_) * kMegabyte / 100;
      (hops ? hopped_ : read_) += std::min(step, bytes - done);
      done += step;
      choice_.moved(step, choice_.mode());
      if (choice_.is_due(now_ns_, 16, 0))
        changes += choice_.decide(now_ns_, {bytes - done, record_bytes});
    }
    return changes;
  }

  std::uint64_t read_mb_s_, hop_mb_s_;
  ScanChoice choice_;
  std::uint64_t now_ns_ = 1, read_ = 0, hopped_ = 0;
};

TEST(ScanChoice, HopsWhereTheyAreMeasuredToBeFaster) {
  Store store(1.2, 100, 400);
  EXPECT_EQ(store.run(60'000 * kMegabyte, 110'000), 1);
  EXPECT_EQ(store.choice_.mode(), ScanMode::kHop);
  EXPECT_LT(store.read_, 120 * kMegabyte);
}

TEST(ScanChoice, ReadsThroughAgainWhereHopsAreSlowerOrGainTooLittle) {
  Store slow(1.2, 100, 20);
  EXPECT_EQ(slow.run(50'000 * kMegabyte, 110'000), 2);
  EXPECT_EQ(slow.choice_.mode(), ScanMode::kRead);
  // Two measurements.
  EXPECT_LT(slow.hopped_, 50 * kMegabyte);
  // Little gain: tried again, less and less often.
  Store little(2, 100, 150);
  EXPECT_EQ(little.run(50'000 * kMegabyte, 110'000, 600), 2 * 6);
  EXPECT_LT(little.hopped_, 6 * 2 * 200 * kMegabyte);
}

TEST(ScanChoice, NeverHopsWithoutNeed) {
  EXPECT_EQ(Store(0, 100, 400).run(60'000 * kMegabyte, 110'000), 0);      // not allowed
  EXPECT_EQ(Store(1.2, 100, 400).run(450 * kMegabyte, 110'000), 0);       // soon done
  EXPECT_EQ(Store(1.2, 100, 400).run(60'000 * kMegabyte, 8'000, 20), 0);  // small records
  EXPECT_EQ(Store(1.2, 100, 400).run(60'000 * kMegabyte, 0, 20), 0);      // compressed shards
}

TEST(ScanChoice, ChangesAgainWhenTheStoreChanges) {
  Store store(1.2, 100, 400);
  EXPECT_EQ(store.run(10'000 * kMegabyte, 110'000), 1);
  // The last shards: fewer hops at a time.
  store.hop_mb_s_ = 50;
  // Tried once more.
  EXPECT_EQ(store.run(2'000 * kMegabyte, 110'000), 3);
  EXPECT_EQ(store.choice_.mode(), ScanMode::kRead);
}

// Windows of the mode before are still arriving.
TEST(ScanChoice, MeasuresOnlyWithoutWindowsOfTheOtherMode) {
  ScanChoice choice(1.2);
  choice.moved(kMegabyte, ScanMode::kRead);
  EXPECT_FALSE(choice.is_due(1, 16, 3));
  for (int i = 0; i < 16; ++i) choice.moved(kMegabyte, ScanMode::kRead);
  EXPECT_FALSE(choice.is_due(5'000 * kMs, 16, 0));  // begins here
  for (int i = 0; i < 40; ++i) choice.moved(kMegabyte, ScanMode::kHop);
  EXPECT_FALSE(choice.is_due(9'000 * kMs, 16, 0));
  for (int i = 0; i < 40; ++i) choice.moved(kMegabyte, ScanMode::kRead);
  EXPECT_TRUE(choice.is_due(9'000 * kMs, 16, 0));
}

}  // namespace
}  // namespace echoline::record
