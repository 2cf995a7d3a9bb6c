// The output of the command line: reports, bars, tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/latency_counts.h"
#include "cli/progress_bar.h"
#include "cli/read_report.h"
#include "cli/stream_text.h"

namespace echoline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(LatencyCounts, GiveQuantilesToOnePercent) {
  LatencyCounts counts;
  EXPECT_EQ(counts.quantile_ns(0.5), 0);
  for (std::uint64_t i = 1; i <= 100'000; ++i) counts.add(i * 100);
  EXPECT_NEAR(counts.quantile_ns(0.5), 5e6, 5e4);
  EXPECT_NEAR(counts.quantile_ns(0.99), 9.9e6, 9.9e4);
  counts.add(~0ULL);
  counts.add(0);
  EXPECT_GT(counts.quantile_ns(1), 1e18);
}

TEST(ReadReport, HasThePromisedKeysInOneLine) {
  ReadReport report;
  report.batches = 2;
  report.samples = 10;
  report.fresh = 4;
  report.bytes = 1000;
  report.seconds = 2;
  report.wait_ns = 500'000'000;
  report.cpu_seconds = 0.5;
  report.next_latency.add(1000);
  const auto json = nlohmann::ordered_json::parse(report.json());
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_THAT(keys, ::testing::ElementsAre("batches", "samples", "fresh", "bytes", "seconds",
                                           "samples_per_second", "bytes_per_second", "wait_seconds",
                                           "next_p50_us", "next_p99_us", "cpu_seconds"));
  EXPECT_EQ(json["samples_per_second"], 5.0);
  EXPECT_EQ(json["wait_seconds"], 0.5);
  EXPECT_NEAR(json["next_p50_us"].get<double>(), 1.0, 0.01);
  EXPECT_EQ(report.json().find('\n'), std::string::npos);
}

TEST(ReadReport, OfOneBatchDoesNotSayBatches) {
  ReadReport report;
  report.batches = report.samples = 1;
  EXPECT_THAT(report.text(), StartsWith("1 batch, 1 sample (0 fresh), "));
  EXPECT_THAT(ReadReport().text(), StartsWith("0 batches, 0 samples "));
}

TEST(ReadReport, OfNothingHasNoDivisionByZero) {
  const auto json = nlohmann::json::parse(ReadReport().json());
  EXPECT_EQ(json["samples_per_second"], 0.0);
  EXPECT_EQ(ReadReport().text().find("nan"), std::string::npos);
}

TEST(Bar, IsAsLongAsAskedAndNeverFullerThanFull) {
  EXPECT_EQ(draw_bar(0, 0, 4), "[----]   0%");
  EXPECT_EQ(draw_bar(1, 2, 4), "[##--]  50%");
  EXPECT_EQ(draw_bar(9, 2, 4), "[####] 100%");
}

TEST(StreamText, HasTheMeanLossOfEachUse) {
  v1::StreamStatus stream;
  const auto add = [&](std::uint32_t use, std::uint64_t rows, double sum) {
    v1::ReportedLoss& loss = *stream.add_reported_losses();
    loss.set_job("default");
    loss.set_use(use);
    loss.set_rows(rows);
    loss.set_loss_sum(sum);
  };
  add(0, 100, 250);
  add(1, 1, 0.5);
  add(15, 2, 1);
  EXPECT_THAT(stream_text(stream),
              HasSubstr("loss         default: fresh 2.5 (100 rows), use 2 0.5 (1 row), use 16 and "
                        "later 0.5 (2 rows)\n"));
  const auto json = nlohmann::json::parse(stream_json(stream));
  EXPECT_EQ(json["reported_losses"][1]["use"], 1);
  EXPECT_EQ(json["reported_losses"][0]["loss_sum"], 250.0);
}

TEST(StreamText, HasNumbersAsNumbersInJson) {
  v1::StreamStatus stream;
  stream.set_name("train");
  stream.set_state("ready");
  stream.set_records(1ULL << 40);
  stream.set_factor_thousandths(2500);
  stream.set_echo_point("sample");
  stream.set_echo_choice("after 'decode': a test");
  stream.add_consumers()->set_job("default");
  (*stream.mutable_records_bad())["corrupt"] = 3;
  const auto json = nlohmann::json::parse(stream_json(stream));
  EXPECT_EQ(json["records"], 1ULL << 40);
  EXPECT_EQ(json["echo_factor"], 2.5);
  EXPECT_EQ(json["records_bad"]["corrupt"], 3);
  EXPECT_EQ(json["consumers"][0]["job"], "default");
  EXPECT_FALSE(json.contains("error"));
  EXPECT_THAT(stream_text(stream),
              HasSubstr("echo         sample x 2.5\necho place   after 'decode': a test\n"));
  EXPECT_EQ(json["echo_choice"], "after 'decode': a test");
  EXPECT_THAT(streams_table({stream}), HasSubstr("train"));
  EXPECT_EQ(streams_table({}), "no streams\n");
}

}  // namespace
}  // namespace echoline::cli
