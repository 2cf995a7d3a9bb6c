// The search for the best number of requests, against stores that are one formula each.
#include "source/http/throughput_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <utility>

namespace echoline::source {
namespace {

constexpr double kSecondNs = 1e9;
constexpr std::uint64_t kLongAnswer = 1'000'000, kShortAnswer = 100'000, kTinyAnswer = 4096;

// Bytes per second with that many requests in flight.
using Store = std::function<double(std::size_t)>;

double far(std::size_t requests) { return std::min(25e6 * static_cast<double>(requests), 10e9); }
double near(std::size_t requests) { return 1e9 - 2e6 * static_cast<double>(requests); }

struct Transfer {
  ThroughputSearch search{};
  std::uint64_t answer_bytes = kLongAnswer;
  std::uint64_t latency_ns = 0;  // to the first byte of an answer
  double now_ns = 1;
  double bytes = 0;

  // Runs with the allowed or the wanted number of requests, whichever is lower.
  void go(const Store& store, double seconds, std::size_t wanted = 1000) {
    const double end_ns = now_ns + seconds * kSecondNs;
    while (now_ns < end_ns) {
      const std::size_t limit = std::max<std::size_t>(search.limit(), 1);
      const std::size_t under_way = std::min(limit, wanted);
      now_ns += static_cast<double>(answer_bytes) / store(under_way) * kSecondNs;
      bytes += static_cast<double>(answer_bytes);
      search.ended({.bytes = answer_bytes, .waited_ns = latency_ns}, under_way, under_way == limit,
                   static_cast<std::uint64_t>(now_ns));
    }
  }
};

TEST(ThroughputSearch, AStoreThatFewServeBestGetsFewWithinSeconds) {
  Transfer run;
  run.search.set_cap(128);
  EXPECT_EQ(run.search.limit(), 16U);
  run.go(near, 3);
  EXPECT_LE(run.search.limit(), 8U);
}

// Its latency is known, and worth less than a request: more of them are not tried first.
TEST(ThroughputSearch, ANearStoreIsFirstTriedWithFewer) {
  Transfer run;
  run.latency_ns = 1'000'000;
  run.search.set_cap(128);
  for (int i = 0; i < 20; ++i) {
    run.go(near, 0.05);
    EXPECT_LE(run.search.limit(), 16U);
  }
  EXPECT_LE(run.search.limit(), 8U);
}

TEST(ThroughputSearch, AStoreThatNeedsManyGetsThemWithinSeconds) {
  Transfer run;
  run.search.set_cap(128);
  run.go(far, 3);
  EXPECT_EQ(run.search.limit(), 128U);
}

TEST(ThroughputSearch, ShortAnswersGetTheCapAtOnceAndLongOnesAfterThemFew) {
  Transfer run;
  run.search.set_cap(128);
  run.answer_bytes = kShortAnswer;
  run.go(far, 0.01);
  EXPECT_EQ(run.search.limit(), 128U);
  run.answer_bytes = kLongAnswer;
  run.go(far, 0.01);
  EXPECT_EQ(run.search.limit(), 16U);
}

// The limit at the beginning of short answers, where long ones have 8 requests.
std::size_t short_start(std::uint64_t bytes, std::uint64_t latency_ns,
                        std::uint64_t bytes_per_second = 1'000'000'000) {
  Transfer run{.search = ThroughputSearch({.limit = 8, .bytes_per_second = bytes_per_second}),
               .answer_bytes = bytes,
               .latency_ns = latency_ns};
  run.search.set_cap(128);
  EXPECT_EQ(run.search.limit(), 8U);
  while (!run.search.has_short_answers()) run.go(far, 1e-9);
  return run.search.limit();
}

TEST(ThroughputSearch, ShortAnswersOfANearStoreBeginWithWhatBringsTwiceTheRateOfLongOnes) {
  EXPECT_EQ(short_start(100'000, 1'000'000), 20U);
  EXPECT_EQ(short_start(50'000, 1'000'000), 40U);
  EXPECT_EQ(short_start(100'000, 1'000), 8U) << "not fewer than long ones";
  EXPECT_EQ(short_start(100'000, 100'000'000), 128U) << "not more than the cap";
  EXPECT_EQ(short_start(100'000, 0), 128U) << "the latency is not known";
  EXPECT_EQ(short_start(100'000, 1'000'000, 0), 128U) << "the rate is not known";
}

TEST(ThroughputSearch, ASecondStreamOfANearStoreAddsNoRequestsForShortAnswers) {
  Transfer run{.search = ThroughputSearch({.limit = 8, .bytes_per_second = 1'000'000'000}),
               .answer_bytes = kShortAnswer,
               .latency_ns = 1'000'000};
  run.search.set_cap(128);
  while (!run.search.has_short_answers()) run.go(far, 1e-9);
  run.search.set_cap(256);
  EXPECT_EQ(run.search.limit(), 20U);
}

// 16 requests are long and 128 short: each search makes answers of the other kind.
TEST(ThroughputSearch, AnswersWhoseLengthFollowsFromTheirNumberDoNotBeginSearchesForEver) {
  Transfer run;
  run.search.set_cap(128);
  int begun = 0;
  bool was_short = false;
  for (int i = 0; i < 60'000; ++i) {
    run.answer_bytes = 10'000'000 / run.search.limit();
    run.go(far, 0.02);
    begun += std::exchange(was_short, run.search.has_short_answers()) != was_short ? 1 : 0;
  }
  EXPECT_LE(begun, 30) << "in 20 minutes";
}

TEST(ThroughputSearch, LookUpsAreIgnored) {
  Transfer run;
  run.search.set_cap(128);
  run.answer_bytes = 1000;
  run.go(near, 1);
  EXPECT_EQ(run.search.limit(), 16U);
}

// Also those that begin within a trial.
TEST(ThroughputSearch, TinyAnswersGetTheCapAndNothingIsTried) {
  Transfer run;
  run.search.set_cap(128);
  run.answer_bytes = kShortAnswer;
  run.go(far, 0.01);
  while (run.search.limit() == 128) run.go(far, 0.01);
  run.answer_bytes = kTinyAnswer;
  run.go(far, 0.1);
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(run.search.limit(), 128U);
    run.go(far, 0.01);
  }
  for (const RatePoint& point : run.search.rates(true).points())
    EXPECT_DOUBLE_EQ(point.answer_bytes, double(kShortAnswer));
}

TEST(ThroughputSearch, AStoreThatNeedsManyKeepsThemAndLosesLittleToTrying) {
  Transfer run;
  run.search.set_cap(128);
  run.go(far, 10);
  run.bytes = 0;
  run.go(far, 120);
  EXPECT_GT(run.bytes, 0.97 * 120 * far(128));
}

TEST(ThroughputSearch, WhereMoreBringsNoMoreTheFewerAreKept) {
  Transfer run;
  run.search.set_cap(256);
  run.go([](std::size_t requests) { return std::min(25e6 * double(requests), 600e6); }, 20);
  EXPECT_GE(run.search.limit(), 24U);
  EXPECT_LE(run.search.limit(), 64U);
}

// Behind 150 ms and 600 MB/s, 32 requests of 3 MB are as fast as 128. The last ones of an epoch
// have 1 MiB each: 86 of them are the 90 MB that arrive within the latency.
TEST(ThroughputSearch, ADistantStoreGetsSoManyThatShortRequestsKeepItBusy) {
  Transfer run{.answer_bytes = 3'000'000, .latency_ns = 150'000'000};
  run.search.set_cap(128);
  const auto store = [](std::size_t requests) { return std::min(20e6 * double(requests), 600e6); };
  run.go(store, 3);
  for (int i = 0; i < 600; ++i) {
    EXPECT_GE(run.search.limit(), 86U);
    run.go(store, 0.1);
  }
}

// Each request waits for those before it: that is no latency of the store.
TEST(ThroughputSearch, AQueueThatTheRequestsMakeDoesNotMakeAStoreDistant) {
  Transfer run{.answer_bytes = 3'000'000, .latency_ns = 1'000'000};
  run.search.set_cap(128);
  run.go(near, 0.01);
  run.latency_ns = 150'000'000;
  run.go(near, 3);
  EXPECT_LE(run.search.limit(), 8U);
}

// One window instead of two for a smaller limit gives 0.90.
TEST(ThroughputSearch, ANoisyStoreDoesNotGetTooFew) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> noise(0.4, 1.6);
  const auto full_at_75 = [](std::size_t requests) {
    return std::min(8e6 * double(requests), 600e6);
  };
  double bytes = 0, possible = 0;
  for (int transfer = 0; transfer < 20; ++transfer) {
    Transfer run;
    run.search.set_cap(128);
    for (int i = 0; i < 600; ++i) {
      const double factor = noise(random);
      run.go([&](std::size_t requests) { return factor * full_at_75(requests); }, 0.1);
      possible += factor * 600e6 * 0.1;
    }
    bytes += run.bytes;
  }
  EXPECT_GT(bytes, 0.92 * possible);
}

TEST(ThroughputSearch, AStoreThatMovesAwayIsFollowed) {
  Transfer run;
  run.search.set_cap(128);
  run.go(near, 120);
  ASSERT_LE(run.search.limit(), 8U);
  run.go(far, 20);
  EXPECT_GE(run.search.limit(), 128U);
}

TEST(ThroughputSearch, WhatIsHardlyAskedTellsNothing) {
  Transfer run;
  run.search.set_cap(128);
  run.go(far, 30, 5);
  EXPECT_EQ(run.search.limit(), 16U);
  EXPECT_TRUE(run.search.rates(false).points().empty());
}

TEST(ThroughputSearch, KeepsTheRateOfTheStoreAtEachNumberThatItTried) {
  Transfer run;
  run.search.set_cap(128);
  const auto store = [](std::size_t requests) { return std::min(25e6 * double(requests), 600e6); };
  run.go(store, 60);
  const std::vector<RatePoint> points = run.search.rates(false).points();
  ASSERT_GE(points.size(), 3);
  for (const RatePoint& point : points) {
    // Requests that began under another limit are not in flight any more when a window begins.
    const auto requests = static_cast<std::size_t>(point.in_flight);
    EXPECT_DOUBLE_EQ(point.in_flight, static_cast<double>(requests));
    EXPECT_NEAR(point.bytes_per_second / store(requests), 1, 0.02) << requests;
    EXPECT_DOUBLE_EQ(point.answer_bytes, double(kLongAnswer));
  }
  EXPECT_TRUE(run.search.rates(true).points().empty());
}

TEST(ThroughputSearch, ACapHoldsAtOnceAndAHigherOneIsRoomAtOnceForShortAnswers) {
  Transfer run;
  run.search.set_cap(2);
  EXPECT_EQ(run.search.limit(), 2U);
  run.search.set_cap(130);
  EXPECT_EQ(run.search.limit(), 16U);
  run.answer_bytes = kShortAnswer;
  run.go(far, 0.01);
  run.search.set_cap(140);
  EXPECT_EQ(run.search.limit(), 140U);
  run.search.set_cap(128);
  EXPECT_EQ(run.search.limit(), 128U);
}

TEST(ThroughputSearch, ATrialIsGivenUpWhereTheStoreRefuses) {
  Transfer run;
  run.search.set_cap(128);
  while (run.search.limit() == 16) run.go(near, 0.01);
  run.search.note_disturbance();
  EXPECT_EQ(run.search.limit(), 16U);
}

}  // namespace
}  // namespace echoline::source
