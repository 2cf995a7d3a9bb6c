#include <cmath>
#include <nlohmann/json.hpp>

#include "analyze/analysis.h"

namespace echoline::analyze {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json prediction_json(const Prediction& prediction) {
  return {{"rows_per_second", number(prediction.rows)},
          {"fresh_per_second", number(prediction.fresh)},
          {"stall_share", prediction.stall},
          {"limit", name_of(prediction.limit)}};
}

Json echo_json(const EchoRemedy& echo) {
  return {{"place", name_of(echo.place)},
          {"factor", echo.factor},
          {"prediction", prediction_json(echo.prediction)},
          {"uncapped_factor", echo.uncapped_factor},
          {"uncapped_prediction", prediction_json(echo.uncapped)}};
}

Json answer_json(const Measures& measures, const Answer& answer) {
  Json json = {{"question", answer.question}};
  if (!answer.refusal.empty()) {
    json["refused"] = answer.refusal;
    return json;
  }
  json.update(prediction_json(answer.prediction));
  if (is_optimistic(measures, answer.setting)) json["too_good"] = true;
  return json;
}

Json store_rates_json(const StoreRates& rates) {
  Json json = {{"endpoint", rates.endpoint},
               {"answers", rates.short_answers ? "short" : "long"},
               {"points", Json::array()}};
  for (const StoreRate& point : rates.points) {
    json["points"].push_back({{"in_flight", point.in_flight},
                              {"bytes_per_second", point.bytes_per_second},
                              {"answer_bytes", point.answer_bytes},
                              {"windows", point.windows},
                              {"age_seconds", point.age_seconds}});
  }
  return json;
}

Json measures_json(const Measures& measured) {
  const Setting now = present_setting(measured);
  Json json = {{"seconds", measured.seconds},
               {"batches", measured.batches},
               {"rows_per_second", measured.rows},
               {"stall_share", measured.stall},
               {"trainer_rows", number(trainer_rows(measured, now))},
               {"worker_rows", number(worker_rows(measured, now))},
               {"fetch_rows", number(fetch_rows(measured, now))},
               {"store_records", measured.store_records},
               {"store_requests",
                {{"answer_seconds", measured.requests.answer_seconds},
                 {"body_seconds", measured.requests.body_seconds},
                 {"in_flight", measured.requests.in_flight},
                 {"in_flight_max", measured.requests.in_flight_max}}},
               {"concurrency", measured.concurrency},
               {"store_rates", Json::array()},
               {"cache_records", measured.cache_records},
               {"cached_share", measured.cached},
               {"passes", measured.passes},
               {"workers", measured.workers},
               {"processors", measured.processors},
               {"workers_awake", measured.awake.ok()},
               {"core_share", measured.core_share},
               {"decode_seconds", measured.decode_seconds},
               {"use_seconds", measured.use_seconds},
               {"copy_seconds", measured.copy_seconds},
               {"record_bytes", measured.record_bytes},
               {"echo_point", name_of(measured.place)},
               {"echo_factor", measured.factor},
               {"echo_factor_set", measured.set_factor},
               {"steps", Json::array()}};
  for (const StoreRates& rates : measured.store_rates) {
    json["store_rates"].push_back(store_rates_json(rates));
  }
  for (const StepTime& step : measured.steps) {
    json["steps"].push_back(
        {{"step", step.step}, {"seconds_a_row", step.seconds_a_row}, {"share", step.share}});
  }
  return json;
}

}  // namespace

std::string analysis_json(const Analysis& analysis) {
  const Remedies& found = analysis.remedies;
  Json json = {{"stream", analysis.stream},
               {"measured", measures_json(analysis.measures)},
               {"now", prediction_json(analysis.now)},
               {"measured_over_model", number(measured_over_model(analysis))},
               {"model_agrees", model_agrees(analysis)},
               {"remedies",
                {{"most_to_win", found.most_to_win},
                 {"workers", found.workers ? Json(*found.workers) : Json(nullptr)},
                 {"cached_share", found.cached ? Json(*found.cached) : Json(nullptr)},
                 {"echo", found.echo ? echo_json(*found.echo) : Json(nullptr)}}},
               {"table", Json::array()},
               {"what_if", Json::array()}};
  for (const Answer& answer : analysis.table)
    json["table"].push_back(answer_json(analysis.measures, answer));
  for (const Answer& answer : analysis.what_if)
    json["what_if"].push_back(answer_json(analysis.measures, answer));
  for (const TargetTime& one : analysis.targets) {
    json["targets"].push_back({{"factor", one.use.factor},
                               {"fresh_needed", one.use.fresh},
                               {"fresh_per_second", one.fresh_rows},
                               {"time", one.time}});
  }
  return json.dump() + "\n";
}

}  // namespace echoline::analyze
