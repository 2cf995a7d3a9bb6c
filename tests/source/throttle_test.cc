// The imitated line: its arithmetic exactly, its clock within two percent.
#include "source/throttle.h"

#include <gtest/gtest.h>

#include <thread>

#include "source/reading.h"

namespace echoline::source {
namespace {

// Ends every read at the next poll.
class InstantSource : public Source {
 public:
  Result<std::vector<ObjectInfo>> list(const std::string&) override {
    return std::vector<ObjectInfo>();
  }
  void submit(ReadRequest request) override { tags_.push_back(request.tag); }
  std::size_t slots_free() const override { return 8 - tags_.size(); }
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
  std::vector<std::uint64_t> tags_;
  std::atomic<bool> woken_{false};
};

ReadRequest request_of(std::uint64_t tag, std::string& bytes) {
  return {tag, {}, {{0, bytes_of(bytes)}}};
}

TEST(Line, many_small_requests_lose_nothing_to_rounding) {
  Line line({.rate = 3});
  std::uint64_t last = 0;
  for (int i = 0; i < 300; ++i) last = line.arrival_ns(0, 1);
  EXPECT_EQ(last, 100 * kSecondNs);
}

TEST(Line, requests_share_the_rate_and_not_the_latency) {
  Line line({.rate = 1000, .latency_ns = 50});
  EXPECT_EQ(line.arrival_ns(0, 1000), kSecondNs + 50);
  EXPECT_EQ(line.arrival_ns(0, 1000), 2 * kSecondNs + 50);
  EXPECT_EQ(line.arrival_ns(10 * kSecondNs, 1000), 11 * kSecondNs + 50);
}

TEST(Line, extreme_rates_do_not_overflow) {
  EXPECT_EQ(Line({.rate = UINT64_MAX, .latency_ns = 7}).arrival_ns(1, 1 << 30), 8U);
  Line fast({.rate = 100'000'000'000});
  EXPECT_NEAR(static_cast<double>(fast.arrival_ns(0, 99'999'999'999)), 1e9, 100);
  EXPECT_EQ(Line({.rate = 1}).arrival_ns(0, 1000), 1000 * kSecondNs);
}

TEST(Throttle, the_mean_rate_is_right_within_two_percent) {
  constexpr std::uint64_t kRate = 40'000'000;
  Throttle source(std::make_unique<InstantSource>(), LineOptions{.rate = kRate, .latency_ns = 5'000'000});
  std::vector<std::string> buffers(8, std::string(137'000, 0));
  std::uint64_t asked = 0;
  std::uint64_t got = 0;
  const std::uint64_t start = monotonic_ns();
  while (monotonic_ns() - start < 2 * kSecondNs) {
    for (; source.slots_free() > 0; ++asked) source.submit(request_of(asked, buffers[asked % 8]));
    std::vector<ReadResult> done;
    source.poll(monotonic_ns() + kSecondNs, done);
    got += done.size() * 137'000;
  }
  const double seconds = static_cast<double>(monotonic_ns() - start) / 1e9;
  EXPECT_NEAR(static_cast<double>(got) / seconds / kRate, 1.0, 0.02);
}

TEST(Throttle, a_result_waits_for_its_latency_and_keeps_its_slot) {
  Throttle source(std::make_unique<InstantSource>(), LineOptions{.latency_ns = kSecondNs / 10});
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

TEST(Throttle, wake_ends_a_wait_for_a_held_result) {
  Throttle source(std::make_unique<InstantSource>(), LineOptions{.rate = 1});
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
