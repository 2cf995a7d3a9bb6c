#include "analyze/model.h"

#include <algorithm>
#include <limits>

namespace echoline::analyze {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
// A worker that has a core for less of its time shares the cores with others.
constexpr double kOwnCore = 0.95;
// A stream that has more of the allowed requests in flight than this share would use more of them.
constexpr double kUsesAll = 0.8;

double per_second(double seconds) { return seconds > 0 ? 1 / seconds : kInfinite; }

// Without an echo step each record has one use.
double uses_of(const Setting& setting) {
  return setting.place == Place::kNone ? 1 : std::max(1.0, setting.factor);
}

}  // namespace

Setting present_setting(const Measures& measures) {
  return {.workers = measures.workers,
          .cached = measures.cached,
          .passes = measures.passes,
          .place = measures.place,
          .factor = measures.factor};
}

double core_seconds(const Measures& measures, const Setting& setting) {
  const double uses = uses_of(setting);
  // The steps after `decode` work on as many pixels as the finished image has.
  const double area = setting.image_scale * setting.image_scale;
  const double use = area * measures.use_seconds;
  const double first = measures.decode_seconds + use;
  switch (setting.place) {
    case Place::kRecord:
      return uses * first;
    case Place::kSample:
      return measures.decode_seconds + uses * use;
    case Place::kAugmented:
      return first + (uses - 1) * area * measures.copy_seconds;
    case Place::kNone:
    case Place::kBatch:
      break;
  }
  return first;
}

bool is_optimistic(const Measures& measures, const Setting& setting) {
  return measures.place == Place::kNone && setting.place == Place::kSample && setting.factor > 1 &&
         !measures.has_data_set;
}

double cores_of(const Measures& measures, std::uint32_t workers) {
  // Workers that wait for a core have shown how many cores there are for them.
  const double cores = measures.core_share < kOwnCore && !measures.calls_code
                           ? measures.core_share * measures.workers
                           : std::max(measures.processors, measures.workers);
  return std::min<double>(workers, cores);
}

double store_records(const Measures& measures, const Setting& setting) {
  const double measured = measures.store_records * setting.store_scale;
  const StoreRequests& requests = measures.requests;
  if (setting.store_latency == 0 || requests.in_flight == 0) return measured;
  // Little's law: the requests in flight are their rate times their time.
  const double now = requests.answer_seconds + requests.body_seconds;
  const double then = setting.store_latency + requests.body_seconds;
  const double of_one = measured * now / then / requests.in_flight;
  // Late answers decide the rate.
  if (requests.in_flight >= kUsesAll * requests.in_flight_max) return of_one * requests.in_flight;
  // Something else does, and the daemon hides a longer latency behind more requests.
  return std::min(measured, of_one * requests.in_flight_max);
}

double fetch_rows(const Measures& measures, const Setting& setting) {
  const double cached = std::clamp(setting.cached, 0.0, 1.0);
  double seconds = 0;  // for a fresh record
  if (measures.cache_records > 0) seconds += cached / measures.cache_records;
  if (measures.store_records > 0) seconds += (1 - cached) / store_records(measures, setting);
  return uses_of(setting) * per_second(seconds) / setting.passes;
}

double worker_rows(const Measures& measures, const Setting& setting) {
  const double seconds = core_seconds(measures, setting);
  return uses_of(setting) * cores_of(measures, setting.workers) * per_second(seconds) /
         setting.passes;
}

double trainer_rows(const Measures& measures, const Setting& setting) {
  return measures.trainer_rows > 0 ? measures.trainer_rows * setting.trainer_scale : kInfinite;
}

Prediction predict(const Measures& measures, const Setting& setting) {
  const double trainers = trainer_rows(measures, setting);
  const double workers = worker_rows(measures, setting);
  const double fetch = fetch_rows(measures, setting);
  Prediction prediction;
  prediction.rows = std::min({trainers, workers, fetch});
  prediction.fresh = prediction.rows / uses_of(setting);
  prediction.stall = trainers == kInfinite ? 0 : 1 - prediction.rows / trainers;
  if (prediction.rows < trainers)
    prediction.limit = fetch < workers ? Limit::kStorage : Limit::kWorkers;
  return prediction;
}

}  // namespace echoline::analyze
