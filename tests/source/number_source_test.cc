#include "source/local/number_source.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "base/clock.h"

namespace echoline::source {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

TEST(NumberSource, BytesAreTheNumbersOfTheirPlaces) {
  auto source = std::move(NumberSource::open(2)).value();
  std::array<std::int64_t, 3> first{}, second{};
  const std::span<std::byte> one = std::as_writable_bytes(std::span(first));
  source->submit({.tag = 7, .object = {}, .segments = {{0, one.first(8)}, {40, one.subspan(8)}}});
  source->submit({.tag = 8,
                  .object = {},
                  .segments = {{8ULL << 32, std::as_writable_bytes(std::span(second))}}});
  EXPECT_EQ(source->slots_free(), 0U);
  EXPECT_EQ(first, (std::array<std::int64_t, 3>{})) << "written by poll only";
  std::vector<ReadResult> done;
  source->poll(0, done);
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[0].tag, 7U);
  EXPECT_EQ(done[1].tag, 8U);
  EXPECT_EQ(first, (std::array<std::int64_t, 3>{0, 5, 6}));
  const std::int64_t far = std::int64_t{1} << 32;
  EXPECT_EQ(second, (std::array<std::int64_t, 3>{far, far + 1, far + 2}));
  EXPECT_EQ(source->slots_free(), 2U);
  EXPECT_EQ(source->counters().bytes, 48U);
  EXPECT_EQ(source->counters().in_flight, 0U);
}

TEST(NumberSource, APollWithoutRequestsEndsWhenItIsWoken) {
  auto source = std::move(NumberSource::open(2)).value();
  const std::uint64_t begin_ns = monotonic_ns();
  std::thread other([&source] { source->wake(); });
  std::vector<ReadResult> done;
  source->poll(begin_ns + 60 * kSecondNs, done);
  other.join();
  EXPECT_LT(monotonic_ns() - begin_ns, 30 * kSecondNs);
  EXPECT_TRUE(done.empty());
  // The wake has been used up: this poll waits for its deadline.
  const std::uint64_t deadline_ns = monotonic_ns() + kSecondNs / 100;
  source->poll(deadline_ns, done);
  EXPECT_GE(monotonic_ns(), deadline_ns);
}

}  // namespace
}  // namespace echoline::source
