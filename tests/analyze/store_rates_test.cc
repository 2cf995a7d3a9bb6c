// The rates of a store by requests in flight: their table, their numbers for scripts, their curve.
#include "analyze/store_rates.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "analyze/analysis.h"
#include "analyze/two_workers.h"

namespace echoline::analyze {
namespace {

constexpr const char* kTable =
    "rates    of http://store:80 by requests in flight, for all streams of the daemon together\n"
    "         REQUESTS      MB/S KB/REQUEST  WINDOWS      LAST\n"
    "                4      50.0       1500        2  34 s ago █████\n"
    "                8     100.0       1200        5   3 s ago ██████████\n"
    "               16     200.0       1000       40   0 s ago ████████████████████\n";

Measures searched() {
  Measures measures = two_workers(0.001, 0.001, 100);
  measures.concurrency = 128;
  measures.store_rates = {
      {"http://store:80",
       false,
       {{3.96, 50e6, 1.5e6, 2, 34}, {8, 100e6, 1.2e6, 5, 2.6}, {16, 200e6, 1e6, 40, 0.1}}}};
  return measures;
}

std::string text_of(const Measures& measures) {
  return analysis_text(analyze("train", measures, {}));
}

TEST(StoreRates, AreATableAndTheSameNumbersForScripts) {
  EXPECT_EQ(store_rates_text(searched()), kTable);
  EXPECT_NE(text_of(searched()).find(kTable), std::string::npos);
  const auto json = nlohmann::json::parse(analysis_json(analyze("train", searched(), {})));
  EXPECT_EQ(json["measured"]["concurrency"], 128);
  ASSERT_EQ(json["measured"]["store_rates"].size(), 1);
  const auto& rates = json["measured"]["store_rates"][0];
  EXPECT_EQ(rates["endpoint"], "http://store:80");
  EXPECT_EQ(rates["answers"], "long");
  ASSERT_EQ(rates["points"].size(), 3);
  EXPECT_EQ(rates["points"][1]["in_flight"], 8);
  EXPECT_EQ(rates["points"][1]["bytes_per_second"], 100e6);
  EXPECT_EQ(rates["points"][1]["answer_bytes"], 1.2e6);
  EXPECT_EQ(rates["points"][1]["windows"], 5);
  EXPECT_EQ(rates["points"][1]["age_seconds"], 2.6);
}

TEST(StoreRates, AreACurveWithTheNumberThatWasMeasuredLast) {
  const std::vector<Curve> curves = store_curves(searched());
  ASSERT_EQ(curves.size(), 1);
  EXPECT_EQ(curves[0].title, "requests in flight at store:80");
  ASSERT_EQ(curves[0].points.size(), 3);
  EXPECT_DOUBLE_EQ(curves[0].points[2].rate, 200);
  EXPECT_DOUBLE_EQ(curves[0].now.x, 16);
  const std::string svg = analysis_svg(analyze("train", searched(), {}));
  EXPECT_NE(svg.find("measured MB/s over: requests in flight at store:80"), std::string::npos);
  EXPECT_NE(svg.find("today: 16, 200.0"), std::string::npos) << svg;
  EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
}

TEST(StoreRates, OneNumberOrNoneIsSaidAndNoCurve) {
  Measures measures = searched();
  measures.concurrency = 4;
  measures.store_rates[0].points.resize(1);
  EXPECT_NE(text_of(measures).find("this is the only number that was measured; read.concurrency is "
                                   "4\n"),
            std::string::npos);
  EXPECT_TRUE(store_curves(measures).empty());
  measures.store_rates[0].points.clear();
  EXPECT_NE(text_of(measures).find("rates    of http://store:80 by requests in flight: none was"),
            std::string::npos);
  EXPECT_TRUE(store_curves(measures).empty());
  measures.store_rates.clear();
  EXPECT_EQ(text_of(measures).find("\nrates"), std::string::npos) << "as of local files";
}

}  // namespace
}  // namespace echoline::analyze
