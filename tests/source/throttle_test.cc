// The simulated link: exact arithmetic, and a clock that is right within two percent.
#include "source/open/throttle.h"

#include <gtest/gtest.h>

#include <thread>

#include "source/reading.h"

namespace echoline::source {
namespace {

// Ends every read at the next poll.
class InstantSource : public Source {
 public:
  explicit InstantSource(std::size_t slots = 8) : slots_(slots) {}
  Result<std::vector<ObjectInfo>> list(const std::string&) override {
    return std::vector<ObjectInfo>();
  }
  Status put(const std::string& url, const std::string& bytes) override {
    return Status(Code::kPermissionDenied, url + ": " + bytes);
  }
  void submit(ReadRequest request) override { tags_.push_back(request.tag); }
  std::size_t slots_free() const override { return slots_ - tags_.size(); }
  void poll(std::uint64_t deadline_ns, std::vector<ReadResult>& done) override {
    for (const std::uint64_t tag : tags_) done.push_back({tag, {}});
    if (tags_.empty() && !woken_.exchange(false))
      while (monotonic_ns() < deadline_ns && !woken_.exchange(false))
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    tags_.clear();
  }
  void wake() override { woken_ = true; }
  Counters counters() const override { return {}; }

 private:
  const std::size_t slots_;
  std::vector<std::uint64_t> tags_;
  std::atomic<bool> woken_{false};
};

ReadRequest request_of(std::uint64_t tag, std::string& bytes) {
  return {tag, {}, {{0, bytes_of(bytes)}}};
}

TEST(SimulatedLink, ManySmallRequestsLoseNothingToRounding) {
  SimulatedLink line({.rate = 3});
  std::uint64_t last = 0;
  for (int i = 0; i < 300; ++i) last = line.arrival_ns(0, 1);
  EXPECT_EQ(last, 100 * kSecondNs);
}

TEST(SimulatedLink, RequestsShareTheRateAndNotTheLatency) {
  SimulatedLink line({.rate = 1000, .latency_ns = 50});
  EXPECT_EQ(line.arrival_ns(0, 1000), kSecondNs + 50);
  EXPECT_EQ(line.arrival_ns(0, 1000), 2 * kSecondNs + 50);
  EXPECT_EQ(line.arrival_ns(10 * kSecondNs, 1000), 11 * kSecondNs + 50);
}

TEST(SimulatedLink, ExtremeRatesDoNotOverflow) {
  EXPECT_EQ(SimulatedLink({.rate = UINT64_MAX, .latency_ns = 7}).arrival_ns(1, 1 << 30), 8U);
  SimulatedLink fast({.rate = 100'000'000'000});
  EXPECT_NEAR(static_cast<double>(fast.arrival_ns(0, 99'999'999'999)), 1e9, 100);
  EXPECT_EQ(SimulatedLink({.rate = 1}).arrival_ns(0, 1000), 1000 * kSecondNs);
}

TEST(SimulatedLink, AConnectionOfItsOwnRateBoundsEachRequestAndNotTheirSum) {
  SimulatedLink line({.latency_ns = 50, .connection_rate = 1000});
  EXPECT_EQ(line.arrival_ns(0, 1000), kSecondNs + 50);
  EXPECT_EQ(line.arrival_ns(0, 1000), kSecondNs + 50);
  SimulatedLink both({.rate = 1000, .connection_rate = 500});
  EXPECT_EQ(both.arrival_ns(0, 1000), 2 * kSecondNs) << "its own connection";
  EXPECT_EQ(both.arrival_ns(0, 1000), 2 * kSecondNs);
  EXPECT_EQ(both.arrival_ns(0, 1000), 3 * kSecondNs) << "the line they share";
}

TEST(SimulatedLink, DelaysAreLogNormalAroundTheirMedianAndTheSameInEveryRun) {
  constexpr std::uint64_t kMedian = 30'000'000;
  constexpr std::uint64_t kP99 = 200'000'000;
  constexpr int kDraws = 100'000;
  SimulatedLink line({.latency_ns = kMedian, .latency_p99_ns = kP99});
  SimulatedLink again({.latency_ns = kMedian, .latency_p99_ns = kP99});
  // One request is delayed. The others are no earlier than the median only if they share a link.
  SimulatedLink shared({.rate = UINT64_MAX, .latency_ns = kMedian, .latency_p99_ns = kP99});
  int below_median = 0;
  int above_p99 = 0;
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t delay = line.arrival_ns(0, 1000);
    EXPECT_EQ(delay, again.arrival_ns(0, 1000));
    EXPECT_GE(shared.arrival_ns(0, 1000), delay);
    below_median += delay <= kMedian;
    above_p99 += delay > kP99;
  }
  EXPECT_NEAR(below_median, kDraws / 2, kDraws / 100);
  EXPECT_NEAR(above_p99, kDraws / 100, kDraws / 500);
}

TEST(Throttle, AP99WithoutAMedianIsRefused) {
  v1::Throttle options;
  options.set_latency_p99(5);
  EXPECT_EQ(Throttle::over(std::make_unique<InstantSource>(), options).status().code(),
            Code::kInvalidArgument);
  options.set_latency(6);
  EXPECT_FALSE(Throttle::over(std::make_unique<InstantSource>(), options).ok());
  options.set_latency(4);
  EXPECT_TRUE(Throttle::over(std::make_unique<InstantSource>(), options).ok());
}

TEST(Throttle, AWriteIsTheStoresOwn) {
  Throttle source(std::make_unique<InstantSource>(), LinkOptions{.latency_ns = kSecondNs / 20});
  EXPECT_EQ(source.put("s3://bucket/a", "bytes").message(), "s3://bucket/a: bytes");
}

TEST(Throttle, ItsTimesAndWaitsAreCounted) {
  Throttle source(std::make_unique<InstantSource>(), LinkOptions{.latency_ns = kSecondNs / 20});
  std::string bytes(10, 0);
  source.submit(request_of(3, bytes));
  EXPECT_TRUE(wait_for(source, 1)[3].ok());
  const Counters counters = source.counters();
  EXPECT_GE(counters.latencies.sum_ns, kSecondNs / 20);
  EXPECT_EQ(counters.answer_ns, kSecondNs / 20);
  EXPECT_EQ(counters.least_answer_ns, kSecondNs / 20);
  EXPECT_GE(counters.wait_ns[static_cast<std::size_t>(WaitReason::kImitated)], kSecondNs / 40);
}

TEST(Throttle, TheMeanRateIsRightWithinTwoPercent) {
  constexpr std::uint64_t kRate = 4'000'000;  // the requests below need 0.5 s of it
  constexpr std::uint64_t kBytes = 32'000;
  Throttle source(std::make_unique<InstantSource>(64),
                  LinkOptions{.rate = kRate, .latency_ns = 5'000'000});
  std::vector<std::string> buffers(64, std::string(kBytes, 0));
  std::uint64_t asked = 0;
  std::uint64_t got = 0;
  const std::uint64_t start = monotonic_ns();
  while (monotonic_ns() - start < 3 * kSecondNs) {
    for (; source.slots_free() > 0; ++asked) source.submit(request_of(asked, buffers[asked % 64]));
    std::vector<ReadResult> done;
    source.poll(monotonic_ns() + kSecondNs, done);
    got += done.size() * kBytes;
  }
  const double seconds = static_cast<double>(monotonic_ns() - start) / 1e9;
  EXPECT_NEAR(static_cast<double>(got) / seconds / kRate, 1.0, 0.02);
}

TEST(Throttle, AResultWaitsForItsLatencyAndKeepsItsSlot) {
  Throttle source(std::make_unique<InstantSource>(), LinkOptions{.latency_ns = kSecondNs / 10});
  std::string bytes(10, 0);
  const std::uint64_t start = monotonic_ns();
  source.submit(request_of(3, bytes));
  std::vector<ReadResult> done;
  source.poll(start + kSecondNs / 20, done);
  EXPECT_TRUE(done.empty());
  EXPECT_EQ(source.slots_free(), 7U);
  EXPECT_EQ(source.counters().in_flight, 1U);
  source.poll(start + 10 * kSecondNs, done);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].tag, 3U);
  EXPECT_GE(monotonic_ns() - start, kSecondNs / 10);
  EXPECT_LT(monotonic_ns() - start, kSecondNs);
  EXPECT_EQ(source.slots_free(), 8U);
}

TEST(Throttle, WakeEndsAWaitForAHeldResult) {
  Throttle source(std::make_unique<InstantSource>(), LinkOptions{.rate = 1});
  std::string bytes(1000, 0);
  source.submit(request_of(0, bytes));
  std::thread waker([&source] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    source.wake();
  });
  std::vector<ReadResult> done;
  const std::uint64_t start = monotonic_ns();
  source.poll(start + 100 * kSecondNs, done);
  EXPECT_TRUE(done.empty());
  EXPECT_LT(monotonic_ns() - start, 5 * kSecondNs);
  waker.join();
}

}  // namespace
}  // namespace echoline::source
