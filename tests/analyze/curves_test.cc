// The curves of an analysis, and the times to a target.
#include "analyze/curves.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "analyze/analysis.h"
#include "analyze/two_workers.h"
#include "analyze/usefulness.h"

namespace echoline::analyze {
namespace {

// A store that delivers a quarter of what the trainers take.
Measures behind_a_slow_store() { return two_workers(0.001, 0.001, 100); }

TEST(Curves, GoThroughTodayAndWhatTheModelPredicts) {
  const std::vector<Curve> curves = curves_of(behind_a_slow_store());
  ASSERT_EQ(curves.size(), 4);
  for (const Curve& curve : curves) {
    ASSERT_GT(curve.points.size(), 3) << curve.key;
    EXPECT_TRUE(std::is_sorted(curve.points.begin(), curve.points.end(),
                               [](const auto& a, const auto& b) { return a.x < b.x; }));
    const auto today = std::find_if(
        curve.points.begin(), curve.points.end(),
        [&](const CurvePoint& point) { return std::abs(point.x - curve.now.x) < 1e-9; });
    ASSERT_NE(today, curve.points.end()) << curve.key;
    EXPECT_NEAR(today->rate, curve.now.rate, 1e-6) << curve.key;
    EXPECT_NEAR(curve.now.rate, 100, 1e-6) << curve.key;
  }
  EXPECT_NEAR(curves[0].most(), 100, 1e-6) << "more workers do not help";
  EXPECT_NEAR(curves[1].most(), 400, 1e-6);
  EXPECT_NEAR(curves[1].points[16].rate, 200, 1e-6) << "half of the records in a cache";
  EXPECT_NEAR(curves[2].points[16].rate, 400, 1e-6) << "with the factor 4.5";
  EXPECT_NEAR(curves[3].points[0].rate, 25, 1e-6) << "a store at a quarter of its rate";
  EXPECT_NEAR(curves[3].points[24].rate, 200, 1e-6) << "a store at twice its rate";
}

TEST(Curves, TheMostTellingOneIsTheFirstWithTheHighestGain) {
  Measures measures = behind_a_slow_store();
  EXPECT_EQ(most_telling(curves_of(measures))->key, "cache.share");
  measures.trainer_rows = 50;
  EXPECT_FALSE(most_telling(curves_of(measures)).has_value());
  measures.trainer_rows = 400;
  measures.store_records = 10'000;
  measures.decode_seconds = 0.009;
  EXPECT_EQ(most_telling(curves_of(measures))->key, "workers");
}

TEST(Curves, AreARowOfBlocksWithTodayUnderIt) {
  const std::string text = curve_text(curves_of(behind_a_slow_store())[1]);
  EXPECT_NE(text.find("cache.share from 0% to 100%: 100.0 to 400.0 rows/s; ^ is today, 0%"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n         ▃▃"), std::string::npos) << text;
  EXPECT_NE(text.find("█\n         ^\n"), std::string::npos) << text;
}

TEST(Curves, OfAStreamThatNothingLimitsAreUnknown) {
  const std::vector<Curve> curves = curves_of({});
  for (const Curve& curve : curves) EXPECT_TRUE(curve.points.empty()) << curve.key;
  EXPECT_FALSE(most_telling(curves).has_value());
  const auto analysis = analyze("train", {}, {});
  EXPECT_NE(analysis_svg(analysis).find("unknown"), std::string::npos);
}

TEST(Usefulness, MultipliesTheFreshRecordsByTheirTime) {
  // The numbers of the language model with batches of 1,024 (docs/echoing.md).
  const auto table = parse_usefulness("# factor, fresh\n4,0.31\n\n2, 0.52\n8 , 0.35\n");
  ASSERT_TRUE(table.ok());
  const std::vector<TargetTime> times = times_to_target(behind_a_slow_store(), *table);
  ASSERT_EQ(times.size(), 4);
  EXPECT_EQ(times[0].time, 1);
  // Up to the factor 4, repeats are free; with 8 the fresh records come at half the rate.
  EXPECT_NEAR(times[1].time, 0.52, 1e-6);
  EXPECT_NEAR(times[2].time, 0.31, 1e-6);
  EXPECT_NEAR(times[3].time, 0.70, 1e-6);
  EXPECT_NE(target_text(times, Place::kRecord)
                .find("factor 4 at record is the first there, in 0.31 of the time"),
            std::string::npos);
}

TEST(Usefulness, WrongLinesAreErrorsThatNameThem) {
  for (const char* wrong : {"2", "2 0.5", "0.5, 1", "65, 1", "2, 0", "2, 101", "2, 0.5, 3",
                            "two, 1", "1, 0.9", "4, 0.3"}) {
    const auto table = parse_usefulness(std::string("4, 0.31\n") + wrong);
    ASSERT_FALSE(table.ok()) << wrong;
    EXPECT_TRUE(table.status().message().starts_with("line 2: ")) << table.status().message();
  }
  EXPECT_EQ(parse_usefulness("2, 0.5\n4, 0.3\n2.0, 0.4").status().message(),
            "line 3: factor 2 has a value already, in line 1");
  for (const char* empty : {"", "\n", "# nothing", "1, 1\n"}) {
    EXPECT_NE(parse_usefulness(empty).status().message().find("ends without a factor above 1"),
              std::string::npos)
        << empty;
  }
  std::string many(1000, '\n');
  for (int i = 0; i < 100; ++i) many += fmt::format("{}, 0.5\n", 2 + i / 10.0);
  EXPECT_TRUE(parse_usefulness(many).ok());
  EXPECT_EQ(parse_usefulness(many + "20, 0.5\n").status().message(),
            "line 1101: more than 100 factors");
  EXPECT_TRUE(times_to_target({}, *parse_usefulness("2, 0.5")).empty());
}

}  // namespace
}  // namespace echoline::analyze
