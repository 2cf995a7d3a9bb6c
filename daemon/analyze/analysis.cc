#include "analyze/analysis.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analyze/echo_text.h"
#include "analyze/picture.h"
#include "analyze/store_rates.h"
#include "analyze/what_if.h"
#include "base/pluralize.h"
#include "config/echo_advice.h"
#include "config/values.h"

namespace echoline::analyze {
namespace {

// Of measured rate and model: where they differ by more, one of them is wrong.
constexpr double kDisagreement = 0.15;

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

class Table {
 public:
  explicit Table(const Measures& measures) : measures_(measures) {}

  // `change` makes the setting from the present one.
  template <typename Change>
  void add(std::string question, const Change& change) {
    Setting setting = present_setting(measures_);
    change(setting);
    answers_.push_back({.question = std::move(question),
                        .setting = setting,
                        .prediction = predict(measures_, setting)});
  }
  std::vector<Answer> take() { return std::move(answers_); }

 private:
  const Measures& measures_;
  std::vector<Answer> answers_;
};

void add_workers(const Measures& measures, Table& table) {
  std::vector<std::uint32_t> numbers = {measures.workers + 1, 2 * measures.workers};
  if (measures.workers > 1) numbers.insert(numbers.begin(), measures.workers - 1);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  for (const std::uint32_t workers : numbers) {
    table.add(fmt::format("workers={}", workers), [&](Setting& one) { one.workers = workers; });
  }
}

void add_echo(const Measures& measures, Table& table) {
  const Place here = echo_place(measures);
  for (const double factor : {1.0, 2.0, 3.0, 4.0, 6.0}) {
    table.add(fmt::format("echo.place={}, echo.factor={}", name_of(here), factor),
              [&](Setting& one) {
                one.place = here;
                one.factor = factor;
              });
  }
  const double factor = std::max(2.0, measures.factor);
  for (const Place place : {Place::kRecord, Place::kSample, Place::kAugmented, Place::kBatch}) {
    if (place == here) continue;
    table.add(fmt::format("echo.place={}, echo.factor={:.3g}", name_of(place), factor),
              [&](Setting& one) {
                one.place = place;
                one.factor = factor;
              });
  }
}

std::vector<Answer> table_of(const Measures& measures) {
  Table table(measures);
  add_workers(measures, table);
  for (const int share : {0, 25, 50, 75, 100}) {
    table.add(fmt::format("cache.share={}%", share),
              [&](Setting& one) { one.cached = share / 100.0; });
  }
  table.add("store.rate=x0.5", [](Setting& one) { one.store_scale = 0.5; });
  table.add("store.rate=x2", [](Setting& one) { one.store_scale = 2; });
  const double latency = measures.requests.answer_seconds;
  if (latency > 0) {
    table.add("store.latency=x0.5", [&](Setting& one) { one.store_latency = latency / 2; });
    table.add("store.latency=x2", [&](Setting& one) { one.store_latency = latency * 2; });
  }
  add_echo(measures, table);
  table.add("trainers.rate=x2", [](Setting& one) { one.trainer_scale = 2; });
  table.add("image.size=x1.5", [](Setting& one) { one.image_scale = 1.5; });
  table.add(fmt::format("passes={}", measures.passes + 1), [](Setting& one) { ++one.passes; });
  return table.take();
}

Answer answer_to(const std::string& question, const Measures& measures) {
  const auto setting = parse_what_if(question, measures);
  if (!setting.ok()) return {.question = question, .refusal = setting.status().message()};
  return {.question = question, .setting = *setting, .prediction = predict(measures, *setting)};
}

// Without their rate there is no stall to predict.
bool knows_trainers(const Measures& measures) { return measures.trainer_rows > 0; }

std::string interval_text(const Analysis& analysis) {
  const Measures& measured = analysis.measures;
  const std::string text = fmt::format("stream   {}, measured for {:.1f} s: {}\n", analysis.stream,
                                       measured.seconds, pluralize(measured.batches, "batch"));
  if (measured.batches >= kBatchesMin) return text;
  return text +
         fmt::format("warning  fewer than {} batches say little: measure for longer with --for\n",
                     kBatchesMin);
}

std::string sentence_of_limit(const Analysis& analysis) {
  const Measures& measured = analysis.measures;
  std::string text =
      knows_trainers(measured)
          ? fmt::format("limit    {}; trainers wait for the daemon {} of their time\n",
                        name_of(analysis.now.limit), percent(measured.stall))
          : fmt::format("limit    {}; batches are taken as fast as they come\n",
                        name_of(analysis.now.limit));
  text += fmt::format("rate     {:.1f} rows/s measured, {:.1f} by the model ({} of {})\n",
                      measured.rows, analysis.now.rows * measured.passes,
                      pluralize(measured.passes, "pass"), rate_text(analysis.now.rows));
  if (model_agrees(analysis)) return text;
  return text + fmt::format(
                    "warning  measured was {} of the model's rate, so do not rely on what follows: "
                    "the interval may be too short, something else may have changed in it, or "
                    "fetching, preparing and training disturb each other\n",
                    percent(measured_over_model(analysis)));
}

std::string asleep_text(const Measures& measured) {
  if (measured.awake.ok()) return "";
  return fmt::format("warning  workers could sleep ({}): busy ones may be faster than P\n",
                     measured.awake.message());
}

std::string measures_text(const Measures& measured) {
  const Setting now = present_setting(measured);
  std::string text =
      knows_trainers(measured)
          ? fmt::format("G        {} rows/s that the trainers take when batches are there\n",
                        rate_text(trainer_rows(measured, now)))
          : std::string("G        unknown: say with --trainer-rate what the trainers take\n");
  text += fmt::format("P        {} rows/s from {}, which have a core {} of their time{}\n",
                      rate_text(worker_rows(measured, now)), pluralize(measured.workers, "worker"),
                      percent(measured.core_share),
                      measured.calls_code ? ", or wait for users' code" : "");
  text += asleep_text(measured);
  text +=
      fmt::format("F        {} rows/s: {} of the records from caches, {} records/s of the store\n",
                  rate_text(fetch_rows(measured, now)), percent(measured.cached),
                  measured.store_records > 0 ? rate_text(measured.store_records) : "unknown");
  if (const StoreRequests& requests = measured.requests; requests.answer_seconds > 0) {
    text += fmt::format(
        "store    {:.1f} ms to the first byte of a request, {:.1f} ms from there to its end; "
        "{:.1f} requests in flight, {:.0f} are allowed\n",
        1e3 * requests.answer_seconds, 1e3 * requests.body_seconds, requests.in_flight,
        requests.in_flight_max);
  }
  text += store_rates_text(measured);
  text += present_echo_text(measured);
  for (const StepTime& step : measured.steps) {
    text += fmt::format("step     {}: {:.1f} us a row, {} of the workers' time\n", step.step,
                        step.seconds_a_row * 1e6, percent(step.share));
  }
  return text;
}

std::string stall_text(const Measures& measures, double stall) {
  return knows_trainers(measures) ? percent(stall) : "-";
}

std::string answer_text(const Measures& measures, const Answer& answer) {
  if (!answer.refusal.empty()) {
    return fmt::format("{:<38} refused: {}\n", answer.question, answer.refusal);
  }
  return fmt::format("{:<38} {:>10} {:>10} {:>6} {}{}\n", answer.question,
                     rate_text(answer.prediction.rows), rate_text(answer.prediction.fresh),
                     stall_text(measures, answer.prediction.stall),
                     name_of(answer.prediction.limit),
                     is_optimistic(measures, answer.setting) ? " (too good)" : "");
}

std::string cache_text(const Analysis& analysis) {
  const std::optional<double>& cached = analysis.remedies.cached;
  if (!cached) {
    return "cache    no cache alone delivers what the trainers take, or the store is not "
           "measured\n";
  }
  if (*cached == 0) {
    return "cache    not needed: fetching is not the limit, even without one\n";
  }
  const auto bytes = static_cast<std::uint64_t>(
      std::ceil(*cached * static_cast<double>(analysis.measures.record_bytes)));
  return fmt::format("cache    {} of the data ({}) in a cache delivers what the trainers take\n",
                     percent(*cached), config::format_bytes(bytes));
}

std::string remedies_text(const Analysis& analysis) {
  // All sentences compare with what the trainers take.
  if (!knows_trainers(analysis.measures)) return "";
  const Remedies& found = analysis.remedies;
  std::string text = fmt::format("gain     at most {} more rows, if trainers never waited\n",
                                 percent(found.most_to_win));
  text += found.workers ? fmt::format("workers  at least {} to prepare what the trainers take\n",
                                      pluralize(*found.workers, "worker"))
                        : std::string(
                              "workers  no number of them prepares what the trainers take, on "
                              "the cores that there are\n");
  return text + cache_text(analysis) + echo_remedy_text(analysis);
}

}  // namespace

Analysis analyze(const std::string& stream, const Measures& measures,
                 const std::vector<std::string>& what_if, const std::vector<Usefulness>& table) {
  // Who has a larger factor has decided so.
  const double factor_cap =
      std::max(table.empty() ? config::kAdvisedFactor : table.back().factor, measures.factor);
  Analysis analysis{.stream = stream,
                    .measures = measures,
                    .now = predict(measures, present_setting(measures)),
                    .factor_cap = factor_cap,
                    .remedies = find_remedies(measures, factor_cap),
                    .table = table_of(measures),
                    .what_if = {},
                    .curves = curves_of(measures),
                    .targets = times_to_target(measures, table)};
  for (const std::string& question : what_if) {
    analysis.what_if.push_back(answer_to(question, measures));
  }
  return analysis;
}

double measured_over_model(const Analysis& analysis) {
  return analysis.measures.rows / (analysis.now.rows * analysis.measures.passes);
}

bool model_agrees(const Analysis& analysis) {
  const double model = analysis.now.rows;
  return !std::isfinite(model) || model <= 0 ||
         std::abs(measured_over_model(analysis) - 1) <= kDisagreement;
}

Status refusal_of_all(const Analysis& analysis) {
  for (const Answer& answer : analysis.what_if) {
    if (answer.refusal.empty()) return Status();
  }
  return analysis.what_if.empty()
             ? Status()
             : Status(Code::kFailedPrecondition, "--what-if: " + analysis.what_if.front().refusal);
}

std::string analysis_text(const Analysis& analysis) {
  std::string text = interval_text(analysis) + sentence_of_limit(analysis) +
                     measures_text(analysis.measures) + "\n";
  text +=
      fmt::format("{:<38} {:>10} {:>10} {:>6} {}\n", "IF", "ROWS/S", "FRESH/S", "STALL", "LIMIT");
  const Measures& measured = analysis.measures;
  text += answer_text(measured, {.question = "nothing changes", .prediction = analysis.now});
  for (const Answer& answer : analysis.table) text += answer_text(measured, answer);
  for (const Answer& answer : analysis.what_if) text += answer_text(measured, answer);
  // The table has `sample` echo for such a stream.
  if (measured.place == Place::kNone) {
    text +=
        "too good: with sample echo, records are decoded whole and kept, which takes the workers "
        "longer\n";
  }
  text += "\n" + remedies_text(analysis);
  const std::optional<Curve> curve = most_telling(analysis.curves);
  if (curve) text += curve_text(*curve);
  return analysis.targets.empty()
             ? text
             : text + "\n" + target_text(analysis.targets, echo_place(measured));
}

std::string analysis_svg(const Analysis& analysis) {
  const Measures& measured = analysis.measures;
  return curves_svg(analysis.stream, analysis.curves, store_curves(measured),
                    trainer_rows(measured, present_setting(measured)));
}

}  // namespace echoline::analyze
