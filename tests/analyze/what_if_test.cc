// Questions of users, and the measures that answers of a daemon give.
#include "analyze/what_if.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analyze/analysis.h"
#include "analyze/meter.h"
#include "analyze/two_workers.h"

namespace echoline::analyze {
namespace {

TEST(WhatIf, ChangesOnlyWhatItNames) {
  const Measures measured{.workers = 3, .cached = 0.5, .record_bytes = 128ULL << 30};
  const auto setting = parse_what_if("workers=16, cache.memory=64GiB,echo.factor=3", measured);
  ASSERT_TRUE(setting.ok()) << setting.status().message();
  EXPECT_EQ(setting->workers, 16U);
  EXPECT_DOUBLE_EQ(setting->cached, 0.5);
  EXPECT_DOUBLE_EQ(setting->factor, 3);
  EXPECT_EQ(setting->place, Place::kSample);
  const auto other = parse_what_if(
      "store.rate=x2, trainers.rate=x0.5, cache.share=30%, echo.place=batch, passes=2, "
      "image.size=x1.5",
      measured);
  ASSERT_TRUE(other.ok()) << other.status().message();
  EXPECT_EQ(other->workers, 3U);
  EXPECT_DOUBLE_EQ(other->store_scale, 2);
  EXPECT_DOUBLE_EQ(other->trainer_scale, 0.5);
  EXPECT_DOUBLE_EQ(other->cached, 0.3);
  EXPECT_EQ(other->place, Place::kBatch);
  EXPECT_EQ(other->passes, 2U);
  EXPECT_DOUBLE_EQ(other->image_scale, 1.5);
}

TEST(WhatIf, ALatencyNeedsAMeasuredOne) {
  Measures measured{.requests = {.answer_seconds = 0.04}};
  EXPECT_DOUBLE_EQ(parse_what_if("store.latency=80ms", measured)->store_latency, 0.08);
  EXPECT_DOUBLE_EQ(parse_what_if("store.latency=x0.5", measured)->store_latency, 0.02);
  EXPECT_EQ(
      parse_what_if("store.latency=80", measured).status().message(),
      "store.latency=80: allowed is a time up to 600s, as 80ms, or a multiple of the measured "
      "one, as x2");
  measured.requests = {};
  EXPECT_EQ(parse_what_if("store.latency=x2", measured).status().code(), Code::kFailedPrecondition);
}

TEST(WhatIf, ErrorsNameTheKeyAndWhatIsAllowed) {
  const Measures measured{.record_bytes = 1000};
  const auto error = [&](const std::string& text) {
    return parse_what_if(text, measured).status().message();
  };
  EXPECT_EQ(error("workers=0"), "workers=0: allowed is a number from 1 to 1024");
  EXPECT_EQ(error("workers=1.5"), "workers=1.5: allowed is a whole number");
  EXPECT_EQ(error("cache.share=1"), "cache.share=1: allowed is a share from 0% to 100%");
  EXPECT_EQ(error("cache.share=101%"), "cache.share=101%: allowed is a share from 0% to 100%");
  EXPECT_EQ(error("trainers.rate=x0"),
            "trainers.rate=x0: allowed is a multiple of the present value from x0.001 to x1000");
  EXPECT_NE(error("store.rate=2").find("allowed is a multiple"), std::string::npos);
  EXPECT_NE(error("speed=2").find("'speed' is unknown; there are: workers"), std::string::npos);
  EXPECT_NE(error("workers").find("is not KEY=VALUE"), std::string::npos);
  EXPECT_NE(error("workers=nan").find("allowed"), std::string::npos);
  for (const char* incomplete : {"", " ", "workers=2,", ",workers=2", "workers=2,,passes=2"}) {
    EXPECT_TRUE(error(incomplete).starts_with("'' is not KEY=VALUE; keys: ")) << incomplete;
  }
  EXPECT_EQ(error("workers=2, workers=2"), "workers has two values");
  EXPECT_EQ(error("cache.share=1%, cache.memory=1KB"),
            "cache.memory and cache.share say the same: leave one out");
}

TEST(WhatIf, AQuestionThatThisStreamCannotAnswerIsRefusedInItsRow) {
  const Measures files = two_workers(0.001, 0.001, 100);
  const Analysis analysis = analyze("train", files, {"store.latency=80ms", "workers=3"});
  EXPECT_NE(analysis_text(analysis).find(
                "store.latency=80ms                     refused: store.latency=80ms: the latency"),
            std::string::npos)
      << analysis_text(analysis);
  const auto json = nlohmann::json::parse(analysis_json(analysis));
  EXPECT_TRUE(json["what_if"][0]["refused"].is_string());
  EXPECT_FALSE(json["what_if"][0].contains("rows_per_second"));
  EXPECT_TRUE(json["what_if"][1]["rows_per_second"].is_number());
  EXPECT_TRUE(refusal_of_all(analysis).ok());
  EXPECT_TRUE(refusal_of_all(analyze("train", files, {})).ok());
  EXPECT_EQ(refusal_of_all(analyze("train", files, {"store.latency=x2"})).code(),
            Code::kFailedPrecondition);
}

TEST(WhatIf, TheOrderOfPlaceAndFactorDoesNotMatter) {
  for (const Place present : {Place::kNone, Place::kRecord}) {
    const Measures measured{.place = present, .factor = present == Place::kNone ? 1.0 : 3.0};
    const auto both = [&](const std::string& first, const std::string& second) {
      const auto one = parse_what_if(first + "," + second, measured);
      const auto other = parse_what_if(second + "," + first, measured);
      EXPECT_EQ(one.status().message(), other.status().message());
      if (one.ok()) {
        EXPECT_EQ(one->place, other->place);
        EXPECT_EQ(one->factor, other->factor);
      }
      return one;
    };
    EXPECT_EQ(
        both("echo.place=none", "echo.factor=4").status().message(),
        "echo.place=none, echo.factor=4: without echo the factor is 1: name a place, or leave "
        "the factor out");
    EXPECT_EQ(both("echo.place=none", "echo.factor=1")->place, Place::kNone);
    EXPECT_EQ(both("echo.place=batch", "echo.factor=4")->place, Place::kBatch);
    EXPECT_EQ(parse_what_if("echo.place=none", measured)->factor, 1);
    EXPECT_EQ(parse_what_if("echo.factor=1", measured)->place, present);
    EXPECT_EQ(parse_what_if("echo.factor=4", measured)->place,
              present == Place::kNone ? Place::kSample : present);
  }
}

// A stream whose trainer trains for 80 ms and waits 20 ms for each batch of 10 rows.
v1::WatchStatsResponse answer_at(std::uint64_t batches) {
  v1::WatchStatsResponse answer;
  answer.set_monotonic_ns(1'000'000'000 + batches * 100'000'000);
  answer.mutable_daemon()->set_workers(2);
  answer.mutable_daemon()->set_processors(2);
  v1::StreamStatus& stream = *answer.add_streams();
  stream.set_name("train");
  stream.set_state("ready");
  stream.set_echo_point("sample");
  stream.set_factor_thousandths(2000);
  stream.set_samples_fresh(5 * batches);
  stream.set_samples_echoed(5 * batches);
  stream.mutable_preparation()->set_first_rows(5 * batches);
  stream.mutable_preparation()->set_first_seconds(0.005 * 5 * static_cast<double>(batches));
  stream.mutable_preparation()->set_again_rows(5 * batches);
  stream.mutable_preparation()->set_again_seconds(0.001 * 5 * static_cast<double>(batches));
  stream.mutable_fetching()->set_records(5 * batches);
  stream.mutable_fetching()->set_store_records(4 * batches);
  stream.mutable_fetching()->set_store_seconds(0.1 * static_cast<double>(batches));
  // Four requests in flight, each 40 ms until the answer and 60 ms for its bytes.
  v1::Source& source = *stream.mutable_source();
  source.mutable_latency()->add_counts(4 * batches);
  source.mutable_latency()->set_sum_seconds(0.4 * static_cast<double>(batches));
  source.set_answer_seconds(0.16 * static_cast<double>(batches));
  source.set_bytes(4000 * batches);
  source.set_concurrency(16);
  source.set_read_ahead_bytes(4000);
  v1::EndpointRates& rates = *source.add_rates();
  rates.set_endpoint("http://store:80");
  rates.set_short_answers(true);
  v1::RatePoint& point = *rates.add_points();
  point.set_in_flight(4);
  point.set_bytes_per_second(40'000 + static_cast<double>(batches));
  point.set_answer_bytes(1000);
  point.set_windows(batches);
  point.set_age_seconds(0.5);
  stream.add_caches();
  v1::Consumer& trainer = *stream.add_consumers();
  trainer.set_job("default");
  trainer.set_batch_size(10);
  trainer.set_batches(batches);
  (*trainer.mutable_wait_seconds_by_cause())["fetch"] = 0.02 * static_cast<double>(batches);
  (*trainer.mutable_wait_seconds_by_cause())["peer"] = 0.01 * static_cast<double>(batches);
  return answer;
}

TEST(Meter, MeasuresTheRateOfEachPart) {
  Meter meter("train");
  for (std::uint64_t batches = 10; batches <= 60; ++batches) {
    ASSERT_TRUE(meter.add(answer_at(batches)).ok());
  }
  const auto measured = meter.measures();
  ASSERT_TRUE(measured.ok()) << measured.status().message();
  EXPECT_EQ(measured->batches, 49U) << "from the first to the last one that was seen to end";
  EXPECT_NEAR(measured->trainer_rows, 125, 1e-6);
  EXPECT_NEAR(measured->rows, 100, 1e-6);
  EXPECT_NEAR(measured->stall, 0.2, 1e-6);
  EXPECT_NEAR(measured->use_seconds, 0.001, 1e-9);
  EXPECT_NEAR(measured->decode_seconds, 0.004, 1e-9);
  EXPECT_NEAR(measured->store_records, 40, 1e-6);
  EXPECT_NEAR(measured->cached, 0.2, 1e-6);
  EXPECT_EQ(measured->place, Place::kSample);
  EXPECT_NEAR(measured->requests.answer_seconds, 0.04, 1e-9);
  EXPECT_NEAR(measured->requests.body_seconds, 0.06, 1e-9);
  EXPECT_NEAR(measured->requests.in_flight, 4, 1e-9);
  EXPECT_NEAR(measured->requests.in_flight_max, 4, 1e-9) << "of 1,000 bytes each";
  EXPECT_EQ(measured->concurrency, 16U);
  ASSERT_EQ(measured->store_rates.size(), 1);
  EXPECT_EQ(measured->store_rates[0].endpoint, "http://store:80");
  EXPECT_TRUE(measured->store_rates[0].short_answers);
  ASSERT_EQ(measured->store_rates[0].points.size(), 1);
  const StoreRate& point = measured->store_rates[0].points[0];
  EXPECT_EQ(point.in_flight, 4);
  EXPECT_EQ(point.bytes_per_second, 40'060) << "of the last answer";
  EXPECT_EQ(point.answer_bytes, 1000);
  EXPECT_EQ(point.windows, 60U);
  EXPECT_EQ(point.age_seconds, 0.5);
  // 40 records/s of the store are 80 % of the fresh ones, and each has two uses.
  const auto analysis = analyze("train", *measured, {"echo.factor=4", "store.latency=140ms"});
  EXPECT_NEAR(analysis.now.rows, 100, 1e-6);
  EXPECT_NEAR(analysis.what_if.at(0).prediction.rows, 125, 1e-6);
  const auto json = nlohmann::json::parse(analysis_json(analysis));
  EXPECT_EQ(json["now"]["limit"], "storage");
  EXPECT_NEAR(json["what_if"][0]["rows_per_second"], 125, 1e-6);
  // All requests are used, and each takes twice as long.
  EXPECT_NEAR(json["what_if"][1]["rows_per_second"], 50, 1e-6);
  EXPECT_NE(analysis_text(analysis).find("at most 25 % more rows, if trainers never waited"),
            std::string::npos)
      << analysis_text(analysis);
}

TEST(Meter, WorkersThatWaitForADataSetInPythonLackNoCore) {
  Meter meter("train");
  for (std::uint64_t batches = 10; batches <= 60; ++batches) {
    v1::WatchStatsResponse answer = answer_at(batches);
    v1::StreamStatus& stream = *answer.mutable_streams(0);
    stream.set_echo_point("none");
    stream.set_factor_thousandths(1000);
    stream.mutable_preparation()->set_again_rows(0);
    stream.mutable_preparation()->set_timed_seconds(0.005 * static_cast<double>(batches));
    stream.mutable_preparation()->set_timed_cpu_seconds(0.0002 * static_cast<double>(batches));
    for (const auto& [name, seconds] : {std::pair("read", 0.0045), std::pair("copy x", 0.0005)}) {
      v1::StepCost& step = *stream.add_steps();
      step.set_step(name);
      step.set_rows(5 * batches);
      step.set_seconds(seconds * 5 * static_cast<double>(batches));
    }
    ASSERT_TRUE(meter.add(answer).ok());
  }
  const auto measured = meter.measures();
  ASSERT_TRUE(measured.ok()) << measured.status().message();
  EXPECT_DOUBLE_EQ(measured->core_share, 0.05) << "the least that is taken as measured";
  EXPECT_EQ(cores_of(*measured, 2), 2);
  EXPECT_NEAR(measured->decode_seconds, 0.0045, 1e-9);
  EXPECT_FALSE(is_optimistic(*measured, {.place = Place::kSample, .factor = 4}));
  EXPECT_NEAR(measured->use_seconds, 0.0005, 1e-9);
}

TEST(Meter, AnotherTrainingWithTheSameNameBeginsAgain) {
  Meter meter("train");
  // The counters of the trainer fall, its batches are smaller, and the stream's counters grow.
  for (std::uint64_t batches = 10; batches <= 60; ++batches) {
    v1::WatchStatsResponse answer = answer_at(batches);
    if (batches >= 30) {
      v1::Consumer& trainer = *answer.mutable_streams(0)->mutable_consumers(0);
      trainer.set_batch_size(5);
      trainer.set_batches(2 * batches - 59);
    }
    ASSERT_TRUE(meter.add(answer).ok());
  }
  const auto measured = meter.measures();
  ASSERT_TRUE(measured.ok()) << measured.status().message();
  EXPECT_EQ(measured->batches, 58U) << "of the second training";
  EXPECT_LT(measured->trainer_rows, 200);
  EXPECT_EQ(meter.add(answer_at(10)).message(),
            "stream 'train' was created again during the measurement");
}

TEST(Meter, FewBatchesAreNamedWithAWarning) {
  Meter meter("train");
  for (std::uint64_t batches = 10; batches <= 21; ++batches) {
    v1::WatchStatsResponse answer = answer_at(batches);
    // A second rank that takes its first batches later.
    v1::Consumer& second = *answer.mutable_streams(0)->add_consumers();
    second = answer.streams(0).consumers(0);
    second.set_rank(1);
    second.set_batches(batches < 13 ? 0 : batches);
    ASSERT_TRUE(meter.add(answer).ok());
  }
  const auto few = meter.measures();
  ASSERT_TRUE(few.ok());
  EXPECT_EQ(few->batches, 8U);
  const std::string text = analysis_text(analyze("train", *few, {}));
  EXPECT_TRUE(
      text.starts_with("stream   train, measured for 1.1 s: 8 batches\nwarning  fewer than 10"))
      << text;
  Measures enough = *few;
  enough.batches = 10;
  EXPECT_EQ(analysis_text(analyze("train", enough, {})).find("warning"), std::string::npos);
}

TEST(Meter, WithoutATrainerThereIsNothingToMeasure) {
  Meter meter("train");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(meter.add(answer_at(10)).ok());
  EXPECT_EQ(meter.measures().status().code(), Code::kFailedPrecondition);
  EXPECT_TRUE(meter.attended().ok()) << "one that takes no batches";
  EXPECT_EQ(Meter("other").add(answer_at(10)).message(), "no stream 'other'; there are: train");
}

TEST(Meter, SaysAtTheThirdAnswerThatNoTrainerIsAttached) {
  v1::WatchStatsResponse alone = answer_at(10);
  alone.mutable_streams(0)->clear_consumers();
  Meter meter("train");
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(meter.add(alone).ok());
    EXPECT_TRUE(meter.attended().ok());
  }
  Meter other = meter;
  ASSERT_TRUE(meter.add(alone).ok());
  EXPECT_EQ(meter.attended().code(), Code::kFailedPrecondition);
  ASSERT_TRUE(other.add(answer_at(10)).ok());
  EXPECT_TRUE(other.attended().ok());
}

// Each record has two uses, and the model knows it.
TEST(Meter, TheFactorIsThatOfTheIntervalAndNotTheOneThatIsSet) {
  for (const std::uint32_t set : {8000U, 2050U}) {
    Meter meter("train");
    for (std::uint64_t batches = 10; batches <= 60; ++batches) {
      v1::WatchStatsResponse answer = answer_at(batches);
      answer.mutable_streams(0)->set_factor_thousandths(set);
      ASSERT_TRUE(meter.add(answer).ok());
    }
    const auto measured = meter.measures();
    ASSERT_TRUE(measured.ok());
    EXPECT_DOUBLE_EQ(measured->set_factor, set / 1000.0);
    EXPECT_DOUBLE_EQ(measured->factor, set == 8000 ? 2 : 2.05) << "nearly equal is equal";
    const Analysis analysis = analyze("train", *measured, {});
    EXPECT_TRUE(model_agrees(analysis));
    EXPECT_EQ(analysis_text(analysis).find("echo     sample x 2 in the interval; 8 is set now") !=
                  std::string::npos,
              set == 8000)
        << analysis_text(analysis);
  }
}

TEST(Meter, OfFewRecordsTheFactorIsTheOneThatIsSet) {
  Meter meter("train");
  for (std::uint64_t batches = 10; batches <= 19; ++batches) {
    v1::WatchStatsResponse answer = answer_at(batches);
    answer.mutable_streams(0)->set_factor_thousandths(8000);
    ASSERT_TRUE(meter.add(answer).ok());
  }
  EXPECT_DOUBLE_EQ(meter.measures()->factor, 8);
}

TEST(Analysis, SaysThatMeasuredRateAndModelDiffer) {
  Measures measured = two_workers(0.001, 0.001, 100);
  for (const double rows : {50.0, 84.0, 86.0, 114.0, 116.0}) {
    measured.rows = rows;
    const Analysis analysis = analyze("train", measured, {});
    const bool differs = rows < 85 || rows > 115;
    const auto json = nlohmann::json::parse(analysis_json(analysis));
    EXPECT_EQ(json["model_agrees"], !differs) << rows;
    EXPECT_NEAR(json["measured_over_model"], rows / 100, 1e-9);
    EXPECT_EQ(analysis_text(analysis).find(fmt::format("measured was {:.0f} % of the model's rate",
                                                       rows)) != std::string::npos,
              differs)
        << analysis_text(analysis);
  }
  const Analysis unlimited = analyze("train", {}, {});
  EXPECT_TRUE(model_agrees(unlimited));
}

TEST(Analysis, APredictionOfSampleEchoForAStreamWithoutEchoIsMarkedAsTooGood) {
  Measures measured = two_workers(0.001, 0.001, 100);
  const std::vector<std::string> questions = {"echo.factor=3", "echo.place=record, echo.factor=3",
                                              "echo.factor=1"};
  const auto marked = [&] {
    const Analysis analysis = analyze("train", measured, questions);
    const auto json = nlohmann::json::parse(analysis_json(analysis));
    std::vector<bool> found;
    for (const auto& answer : json["what_if"]) found.push_back(answer.contains("too_good"));
    const bool explained = analysis_text(analysis).find("\ntoo good: ") != std::string::npos;
    EXPECT_EQ(explained, measured.place == Place::kNone);
    return found;
  };
  EXPECT_EQ(marked(), (std::vector<bool>{true, false, false}));
  measured.place = Place::kRecord;
  EXPECT_EQ(marked(), (std::vector<bool>{false, false, false}));
}

}  // namespace
}  // namespace echoline::analyze
