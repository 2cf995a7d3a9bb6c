// The model against a simulation of a pipeline, record by record, and its remedies against a
// search.
#include "analyze/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <queue>
#include <string>
#include <vector>

#include "analyze/analysis.h"
#include "analyze/remedies.h"
#include "analyze/two_workers.h"

namespace echoline::analyze {
namespace {

Measures measures() {
  Measures measured = two_workers(0.004, 0.002, 150);
  measured.cache_records = 3000;
  measured.cached = 0.25;
  return measured;
}

// Seconds of a worker for use `use` of a record.
double cost_of(const Measures& measured, const Setting& setting, int use) {
  const double area = setting.image_scale * setting.image_scale;
  const double first = measured.decode_seconds + area * measured.use_seconds;
  if (use == 0 || setting.place == Place::kRecord) return first;
  if (setting.place == Place::kSample) return area * measured.use_seconds;
  return setting.place == Place::kAugmented ? area * measured.copy_seconds : 0;
}

// Rows per second of a store or cache, workers and a trainer that run one after the other, with
// room for `kAhead` records before the workers and rows before the trainer: each part begins a row
// when its input is there, and when there is room for its output.
double simulated_rows(const Measures& measured, const Setting& setting) {
  constexpr int kRecords = 3000;
  constexpr std::size_t kAhead = 64;
  const int uses = setting.place == Place::kNone ? 1 : static_cast<int>(setting.factor);
  std::priority_queue<double, std::vector<double>, std::greater<>> workers;
  for (std::uint32_t i = 0; i < setting.workers; ++i) workers.push(0);
  std::deque<double> begun, taken;  // when records left the read-ahead, and rows the trainer
  double fetched = 0, trained = 0;
  for (int record = 0; record < kRecords; ++record) {
    const bool cached = (record % 100) < std::lround(setting.cached * 100);
    const double room = begun.size() < kAhead ? 0 : begun[begun.size() - kAhead];
    const double rate =
        cached ? measured.cache_records : measured.store_records * setting.store_scale;
    fetched = std::max(fetched, room) + 1 / rate;
    for (int use = 0; use < uses; ++use) {
      const double slot = taken.size() < kAhead ? 0 : taken[taken.size() - kAhead];
      const double start = std::max({fetched, workers.top(), slot});
      workers.pop();
      const double made = start + cost_of(measured, setting, use);
      workers.push(made);
      if (use == 0) begun.push_back(start);
      trained = std::max(trained, made) + 1 / (measured.trainer_rows * setting.trainer_scale);
      taken.push_back(trained);
    }
  }
  return kRecords * uses / trained;
}

TEST(Model, AgreesWithASimulatedPipeline) {
  const Measures measured = measures();
  int limits[3] = {};
  for (const Place place :
       {Place::kNone, Place::kRecord, Place::kSample, Place::kAugmented, Place::kBatch}) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      for (const std::uint32_t workers : {1U, 2U, 6U}) {
        for (const double cached : {0.0, 0.5, 1.0}) {
          const Setting setting{.workers = workers,
                                .cached = cached,
                                .place = place,
                                .factor = factor,
                                .image_scale = factor == 2 ? 1.5 : 1};
          const Prediction predicted = predict(measured, setting);
          const double rows = simulated_rows(measured, setting);
          EXPECT_NEAR(predicted.rows / rows, 1, 0.03)
              << static_cast<int>(place) << " x " << factor << ", " << workers
              << " workers, cached " << cached;
          ++limits[static_cast<int>(predicted.limit)];
        }
      }
    }
  }
  // Each part limited some of the settings.
  for (const int count : limits) EXPECT_GT(count, 5);
}

// Requests to a store: the time to the first byte, then the bytes over a line that all share.
struct SimulatedStore {
  double latency = 0;
  double line_seconds = 0;        // for the bytes of a request
  double connection_seconds = 0;  // the same, on a connection of its own
};

// With always `count` requests in flight, each for one record.
Measures measured_at(const SimulatedStore& store, int count) {
  constexpr int kRequests = 4000;
  std::priority_queue<double, std::vector<double>, std::greater<>> free;
  for (int i = 0; i < count; ++i) free.push(0);
  double line_free = 0, bodies = 0;
  for (int i = 0; i < kRequests; ++i) {
    const double answer = free.top() + store.latency;
    free.pop();
    line_free = std::max(line_free, answer) + store.line_seconds;
    const double end = std::max(line_free, answer + store.connection_seconds);
    bodies += end - answer;
    free.push(end);
  }
  Measures measured;
  measured.store_records = kRequests / free.top();
  measured.requests = {.answer_seconds = store.latency,
                       .body_seconds = bodies / kRequests,
                       .in_flight = static_cast<double>(count)};
  return measured;
}

// As the daemon finds the number of requests: half as many are enough with 95 % of the rate.
Measures measured_with_most(const SimulatedStore& store, int most) {
  int count = most;
  const double rate = measured_at(store, most).store_records;
  while (count >= 8 && measured_at(store, count / 2).store_records >= 0.95 * rate) count /= 2;
  Measures measured = measured_at(store, count);
  measured.requests.in_flight_max = most;
  return measured;
}

TEST(Model, AnotherLatencyAgreesWithASimulatedStore) {
  int limited = 0;
  for (const int most : {4, 16, 128}) {
    for (const double line_seconds : {0.00001, 0.002, 0.02}) {
      for (const double now : {0.01, 0.03, 0.1}) {
        for (const double then : {0.03, 0.1, 0.3}) {
          const Measures measured = measured_with_most({now, line_seconds, 0.004}, most);
          const double rate = measured_with_most({then, line_seconds, 0.004}, most).store_records;
          // All requests are in flight, and yet the line is the limit, now or then: not measured.
          const bool uses_all = measured.requests.in_flight == most;
          if (uses_all && line_seconds * most > std::min(now, then)) continue;
          Setting setting = present_setting(measured);
          setting.store_latency = then;
          EXPECT_NEAR(store_records(measured, setting) / rate, 1, 0.15)
              << most << " requests, line " << line_seconds << ", from " << now << " to " << then;
          limited += measured.requests.in_flight < most ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(limited, 5) << "the line was the limit";
}

TEST(Model, StallIsTheShareThatTheTrainerCannotUse) {
  Measures measured = measures();
  const Prediction now = predict(measured, present_setting(measured));
  EXPECT_EQ(now.limit, Limit::kStorage);
  EXPECT_DOUBLE_EQ(now.stall, 1 - now.rows / 400);
  measured.trainer_rows = 50;
  EXPECT_EQ(predict(measured, present_setting(measured)).limit, Limit::kTrainers);
  EXPECT_EQ(predict(measured, present_setting(measured)).stall, 0);
}

TEST(Model, WorkersThatWaitForCoresShowHowManyThereAre) {
  Measures measured = measures();
  EXPECT_EQ(cores_of(measured, 4), 4);
  EXPECT_EQ(cores_of(measured, 16), 8);
  measured.core_share = 0.6;
  EXPECT_DOUBLE_EQ(cores_of(measured, 1), 1);
  EXPECT_DOUBLE_EQ(cores_of(measured, 4), 1.2);
}

TEST(Model, PassesShareStoreAndWorkersAndNotTrainers) {
  Measures measured = measures();
  Setting setting = present_setting(measured);
  const double one = predict(measured, setting).rows;
  setting.passes = 2;
  EXPECT_DOUBLE_EQ(predict(measured, setting).rows, one / 2);
  EXPECT_DOUBLE_EQ(trainer_rows(measured, setting), 400);
}

TEST(Remedies, AreTheLeastOnesThatASearchFinds) {
  Measures measured = measures();
  for (const double wanted : {60.0, 200.0, 400.0, 900.0, 5000.0}) {
    measured.trainer_rows = wanted;
    const Remedies found = find_remedies(measured);
    Setting setting = present_setting(measured);
    std::optional<std::uint32_t> workers;
    for (setting.workers = 64; setting.workers > 0; --setting.workers) {
      if (worker_rows(measured, setting) >= wanted) workers = setting.workers;
    }
    EXPECT_EQ(found.workers, workers) << wanted;
    setting = present_setting(measured);
    std::optional<double> cached;
    for (int thousandths = 1000; thousandths >= 0; --thousandths) {
      setting.cached = thousandths / 1000.0;
      if (fetch_rows(measured, setting) >= wanted) cached = setting.cached;
    }
    ASSERT_EQ(found.cached.has_value(), cached.has_value()) << wanted;
    if (cached) {
      EXPECT_NEAR(*found.cached, *cached, 0.001) << wanted;
    }
  }
}

// The highest rate at any place with a factor up to the cap.
double searched_rate(const Measures& measured, double factor_cap) {
  Setting setting = present_setting(measured);
  double highest = 0;
  for (const Place place : {Place::kRecord, Place::kSample, Place::kAugmented, Place::kBatch}) {
    setting.place = place;
    for (setting.factor = 1; setting.factor <= factor_cap; setting.factor += 0.1) {
      highest = std::max(highest, predict(measured, setting).rows);
    }
  }
  return highest;
}

TEST(Remedies, TheEchoIsTheLeastWithTheHighestRateOfAllPlaces) {
  int places[5] = {};
  for (const Place present : {Place::kNone, Place::kRecord, Place::kSample, Place::kBatch}) {
    for (const double use_seconds : {0.0005, 0.002, 0.02}) {
      for (const double trainers : {300.0, 400.0, 2000.0}) {
        for (const double factor_cap : {4.0, 16.0}) {
          Measures measured = two_workers(0.004, use_seconds, 150);
          measured.place = present;
          measured.trainer_rows = trainers;
          const auto found = find_remedies(measured, factor_cap).echo;
          ASSERT_TRUE(found.has_value());
          // A place is left only for 10 % more.
          EXPECT_GE(found->prediction.rows, 0.9 * searched_rate(measured, factor_cap));
          EXPECT_GE(found->uncapped.rows, found->prediction.rows);
          Setting setting = present_setting(measured);
          setting.place = found->place;
          setting.factor = found->factor;
          EXPECT_LE(setting.factor, factor_cap);
          EXPECT_EQ(predict(measured, setting).rows, found->prediction.rows);
          setting.factor *= 0.95;
          if (setting.factor >= 1) {
            EXPECT_LT(predict(measured, setting).rows, found->prediction.rows);
          }
          ++places[static_cast<int>(found->place)];
        }
      }
    }
  }
  EXPECT_GT(places[static_cast<int>(Place::kSample)], 0);
  EXPECT_GT(places[static_cast<int>(Place::kAugmented)], 0);
}

TEST(Remedies, WhereDecodingIsTheLimitRecordEchoIsLeftForSampleEcho) {
  Measures measured = two_workers(0.02, 0.0005, 500);
  measured.place = Place::kRecord;
  measured.factor = 3;
  measured.batch_rows = 16;
  const auto found = find_remedies(measured).echo;
  EXPECT_EQ(found->place, Place::kSample);
  EXPECT_EQ(found->factor, 4);
  EXPECT_GT(found->prediction.rows, 2 * predict(measured, present_setting(measured)).rows);
  const std::string text = analysis_text(analyze("train", measured, {}));
  EXPECT_NE(
      text.find("echo     best is - echo: {factor: 4, window: 512} after decode: sample x 4 gives "
                "363.6 rows/s, 90.9 of them fresh, stall 9 %\n"
                "         factor 4.44 would hide the rest, but beyond 4 to 5, repeats were not"),
      std::string::npos)
      << text;
  // Who has measured what repeats are worth decides by that.
  const std::string measured_worth =
      analysis_text(analyze("train", measured, {}, {{}, {.factor = 8, .fresh = 0.2}}));
  EXPECT_NE(measured_worth.find("sample x 4.44 gives"), std::string::npos) << measured_worth;
}

TEST(Remedies, EchoThatGivesNothingIsNotAdvised) {
  const auto line = [](const Measures& measured) {
    const std::string text = analysis_text(analyze("train", measured, {}));
    const std::size_t at = text.rfind("\necho     ");
    return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  };
  Measures measured = two_workers(0.001, 0.001, 390);
  EXPECT_EQ(line(measured), "echo     not needed: it gives less than 5 % more rows");
  measured.place = Place::kSample;
  measured.factor = 3;
  measured.store_records = 500;
  EXPECT_EQ(line(measured),
            "echo     not needed: without it there are as many rows, and all are fresh");
  measured.store_records = 150;
  EXPECT_TRUE(line(measured).starts_with("echo     best is - echo: {factor: 2.66"))
      << line(measured);
  measured.store_records = 50;
  measured.factor = 6;
  EXPECT_TRUE(line(measured).starts_with("echo     as today: sample x 6 gives 300.0 rows/s"))
      << line(measured) << ": 4 would be advised, but this was decided";
  measured.store_records = 150;
  measured.factor = 2.7;
  EXPECT_TRUE(line(measured).starts_with("echo     as today: sample x 2.66")) << line(measured);
}

TEST(Remedies, WithoutARateOfTheTrainersThereIsNoBestEcho) {
  Measures measured = measures();
  measured.trainer_rows = 0;
  EXPECT_FALSE(find_remedies(measured).echo.has_value());
  EXPECT_EQ(analysis_text(analyze("train", measured, {})).find("echo     best"), std::string::npos);
}

TEST(Remedies, AStoreThatIsFastEnoughNeedsNoCache) {
  Measures measured = measures();
  measured.trainer_rows = 100;
  EXPECT_EQ(find_remedies(measured).cached, 0);
  EXPECT_EQ(find_remedies(measured).most_to_win, 0);
  EXPECT_DOUBLE_EQ(find_remedies(measured).echo->factor, 1);
  EXPECT_NE(analysis_text(analyze("train", measured, {})).find("cache    not needed: "),
            std::string::npos);
}

TEST(Analysis, SaysWhyWorkersCouldSleep) {
  Measures measured = measures();
  EXPECT_EQ(analysis_text(analyze("train", measured, {})).find("sleep"), std::string::npos);
  measured.awake = Status(Code::kCancelled, "--let-sleep");
  EXPECT_NE(
      analysis_text(analyze("train", measured, {}))
          .find("\nwarning  workers could sleep (--let-sleep): busy ones may be faster than P\n"),
      std::string::npos);
}

}  // namespace
}  // namespace echoline::analyze
