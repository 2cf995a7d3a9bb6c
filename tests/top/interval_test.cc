// Rates and shares from two answers, short numbers, and the JSON of an interval.
#include "top/interval.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "top/json.h"
#include "top/made_answers.h"
#include "top/numbers.h"

namespace echoline::top {
namespace {

using ::testing::DoubleNear;
using ::testing::IsNan;

TEST(Interval, HasRatesAndSharesOfWhatHappenedInIt) {
  const Interval interval = between(first_answer(), second_answer());
  EXPECT_DOUBLE_EQ(interval.seconds, 1);
  EXPECT_DOUBLE_EQ(interval.unix_seconds, 1'795'000'001);
  const StreamInterval& train = interval.streams.at(1);
  EXPECT_DOUBLE_EQ(train.fresh_per_second, 1480);
  EXPECT_DOUBLE_EQ(train.echoed_per_second, 2220);
  EXPECT_DOUBLE_EQ(train.batches_per_second, 14);
  EXPECT_NEAR(train.stages.at(1).busy, 0.25, 1e-9);
  EXPECT_NEAR(train.stages.at(1).starved, 0.75, 1e-9);
  EXPECT_NEAR(train.trainers.at(0).wait_share, 0.45, 1e-9);
  EXPECT_NEAR(train.trainers.at(0).wait_by_cause.at(0), 0.4, 1e-9);
  EXPECT_NEAR(train.wait_share, (0.45 + 0.45 + 0.02) / 3, 1e-9);
  EXPECT_NEAR(train.caches.at(0).hit_share, 518.0 / 1480, 1e-9);
  EXPECT_DOUBLE_EQ(train.source.requests_per_second, 480);
  EXPECT_NEAR(train.source.mean_seconds, 0.045, 1e-9);
  EXPECT_NEAR(train.source.p99_seconds, 0.0982, 1e-4);
  EXPECT_NEAR(train.source.waiting.at("throttled"), 9.6, 1e-9);
}

TEST(Interval, OfAFirstAnswerKnowsNoRates) {
  const Interval interval = between(v1::WatchStatsResponse(), second_answer());
  EXPECT_EQ(interval.seconds, 0);
  const StreamInterval& train = interval.streams.at(1);
  EXPECT_THAT(train.fresh_per_second, IsNan());
  EXPECT_THAT(train.wait_share, IsNan());
  EXPECT_THAT(train.caches.at(0).hit_share, IsNan());
  EXPECT_EQ(train.stages.at(0).busy, 0);
}

TEST(Interval, OfAStreamThatWasCreatedAgainIsNeverNegative) {
  const Interval interval = between(second_answer(), first_answer());
  EXPECT_EQ(interval.seconds, 0);
  v1::WatchStatsResponse later = first_answer();
  later.set_monotonic_ns(second_answer().monotonic_ns() + 1);
  const Interval shrunk = between(second_answer(), later);
  EXPECT_EQ(shrunk.streams.at(1).fresh_per_second, 0);
  EXPECT_EQ(shrunk.streams.at(1).trainers.at(0).wait_share, 0);
  EXPECT_EQ(shrunk.streams.at(1).stages.at(0).busy, 0);
}

TEST(Numbers, TakeFewCharacters) {
  for (const auto& [count, text] :
       std::initializer_list<std::pair<double, const char*>>{{0, "0"},
                                                             {0.04, "0"},
                                                             {0.26, "0.3"},
                                                             {4, "4"},
                                                             {9.94, "9.9"},
                                                             {9.96, "10"},
                                                             {1480, "1480"},
                                                             {9999.6, "10.0k"},
                                                             {123'456, "123k"},
                                                             {1.2e6, "1.2M"},
                                                             {999.6e6, "1.0G"},
                                                             {NAN, "-"}}) {
    EXPECT_EQ(count_text(count), text) << count;
  }
  EXPECT_EQ(percent_text(0), "0%");
  EXPECT_EQ(percent_text(0.001), "<1%");
  EXPECT_EQ(percent_text(0.999), "100%");
  EXPECT_EQ(percent_text(NAN), "-");
  EXPECT_EQ(seconds_text(0.0451234), "45.1ms");
  EXPECT_EQ(bytes_rate_text(3 << 20), "3MiB/s");
}

TEST(IntervalJson, IsOneLineWithNullForUnknownValues) {
  const std::string line = interval_json(between(first_answer(), second_answer()), "");
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["daemon"]["memory_budget_bytes"], 2ULL << 30);
  ASSERT_EQ(json["streams"].size(), 2U);
  const auto& train = json["streams"][1];
  EXPECT_EQ(train["fresh_per_second"], 1480.0);
  EXPECT_EQ(train["limit"], "storage");
  EXPECT_EQ(train["consumers"][2]["lag_rows"], 256);
  EXPECT_NEAR(train["consumers"][0]["wait_by_cause"]["fetch"].get<double>(), 0.4, 1e-9);
  EXPECT_TRUE(json["streams"][0]["wait_share"].is_null());
  const auto one = nlohmann::json::parse(interval_json(between({}, second_answer()), "train"));
  ASSERT_EQ(one["streams"].size(), 1U);
  EXPECT_TRUE(one["streams"][0]["fresh_per_second"].is_null());
}

}  // namespace
}  // namespace echoline::top
