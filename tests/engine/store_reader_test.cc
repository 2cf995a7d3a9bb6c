// How long the reads of a store are, by what is known of its latency and rate.
#include "engine/fetch/store_reader.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "record/index/uniform_index.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kMegabyte = 1'000'000;

// Reports what a test says about the store.
class ReportedSource : public source::Source {
 public:
  explicit ReportedSource(const source::Counters& counters) : counters_(counters) {}
  Result<std::vector<source::ObjectInfo>> list(const std::string&) override {
    return std::vector<source::ObjectInfo>();
  }
  Status put(const std::string&, const std::string&) override { return {}; }
  void submit(source::ReadRequest) override {}
  std::size_t slots_free() const override { return 16 - counters_.in_flight; }
  void poll(std::uint64_t, std::vector<source::ReadResult>&) override {}
  void wake() override {}
  source::Counters counters() const override { return counters_; }

 private:
  const source::Counters& counters_;
};

class StoreReaderTest : public testing::Test {
 protected:
  RequestCoalescer::Reads reads() const { return reader_.reads_now(); }
  // So many megabytes have come, each in this time.
  void read(int megabytes, std::uint64_t ns_per_byte) {
    for (int i = 0; i < megabytes; ++i) {
      meter_.sleep(FetchWork::kAtStore, now_ns_);
      meter_.wake(now_ns_ += kMegabyte * ns_per_byte);
      meter_.count_stored(kMegabyte);
    }
  }

  source::Counters counters_;
  FetchMeter meter_{0};
  std::uint64_t now_ns_ = 0;
  const record::UniformIndex index_{{}};
  StoreReader reader_{std::make_unique<ReportedSource>(counters_), index_, true, meter_};
};

TEST_F(StoreReaderTest, ReadsHaveTheUsualLengthsWhileNothingIsKnown) {
  EXPECT_EQ(reads().at_once, 16U);
  EXPECT_EQ(reads().bytes_min, RequestCoalescer::kRequestBytes);
  EXPECT_EQ(reads().bytes_max, RequestCoalescer::kNearReadBytes);
}

TEST_F(StoreReaderTest, ReadsInFlightCoverTheLatency) {
  counters_.least_answer_ns = 150 * kMs;
  read(2000, 2);  // 500 MB/s, so 75 MB arrive until an answer begins
  EXPECT_NEAR(static_cast<double>(reads().bytes_min), 75e6 / 16, 1e5);
  EXPECT_EQ(reads().bytes_max, RequestCoalescer::kRequestBytesMax);
  counters_.least_answer_ns = 30 * kMs;
  EXPECT_EQ(reads().bytes_min, RequestCoalescer::kRequestBytes);
  EXPECT_NEAR(static_cast<double>(reads().bytes_max), 4 * 15e6 / 16, 1e5);
}

TEST_F(StoreReaderTest, TheRateOfAnEarlierRunCountsUntilASecondIsMeasured) {
  counters_.least_answer_ns = 150 * kMs;
  counters_.rate_before = 500 * kMegabyte;
  EXPECT_NEAR(static_cast<double>(reads().bytes_min), 75e6 / 16, 1e5);
  read(5, 20);  // 0.1 s of 50 MB/s: mostly the latency of the first answers
  EXPECT_NEAR(static_cast<double>(reads().bytes_min), 75e6 / 16, 1e5);
  read(100, 20);
  EXPECT_EQ(reads().bytes_min, RequestCoalescer::kRequestBytes);
}

TEST_F(StoreReaderTest, TheRequestsOfALargeRecordCountOneByOne) {
  counters_.in_flight = 12;
  EXPECT_EQ(reads().at_once, 16U);
}

TEST_F(StoreReaderTest, AnImpossibleRateGivesTheLongestReads) {
  counters_.least_answer_ns = 3'600'000 * kMs;
  counters_.rate_before = UINT64_MAX;
  EXPECT_EQ(reads().bytes_min, RequestCoalescer::kRequestBytesMax);
  EXPECT_EQ(reads().bytes_max, RequestCoalescer::kRequestBytesMax);
}

}  // namespace
}  // namespace echoline::engine
