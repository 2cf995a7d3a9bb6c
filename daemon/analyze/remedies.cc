#include "analyze/remedies.h"

#include <algorithm>
#include <cmath>

namespace echoline::analyze {
namespace {

// A rate that is nearer to the highest one counts as the highest.
constexpr double kNearEnough = 0.999;
constexpr int kHalvings = 40;
// A gain that is worth another echo place.
constexpr double kClearlyMore = 1.1;

std::optional<std::uint32_t> least_workers(const Measures& measures) {
  Setting setting = present_setting(measures);
  const double wanted = trainer_rows(measures, setting);
  if (!std::isfinite(wanted)) return std::nullopt;
  // Cores are the unit: with more workers than cores the rate stays.
  const double most = cores_of(measures, UINT32_MAX);
  for (setting.workers = 1; setting.workers <= std::ceil(most); ++setting.workers) {
    if (worker_rows(measures, setting) >= wanted) return setting.workers;
  }
  return std::nullopt;
}

// x* = (1/S - 1/m) / (1/S - 1/C), where m is the needed rate of fresh records.
std::optional<double> least_cached(const Measures& measures) {
  const Setting setting = present_setting(measures);
  const double wanted = trainer_rows(measures, setting);
  if (!std::isfinite(wanted) || measures.store_records <= 0) return std::nullopt;
  const double uses = measures.place == Place::kNone ? 1 : std::max(1.0, measures.factor);
  const double needed = uses / (wanted * measures.passes);  // seconds for a fresh record
  const double store = 1 / measures.store_records;
  const double cache = measures.cache_records > 0 ? 1 / measures.cache_records : 0;
  if (needed >= store) return 0;
  if (needed < cache || store <= cache) return std::nullopt;
  return (store - needed) / (store - cache);
}

// The rate does not fall when the factor grows, so the least one is found by halving.
double least_factor(const Measures& measures, Setting setting) {
  setting.factor = kFactorMax;
  const double highest = predict(measures, setting).rows;
  double low = 1, high = kFactorMax;
  setting.factor = low;
  if (predict(measures, setting).rows >= highest * kNearEnough) return 1;
  for (int i = 0; i < kHalvings; ++i) {
    setting.factor = (low + high) / 2;
    (predict(measures, setting).rows >= highest * kNearEnough ? high : low) = setting.factor;
  }
  return high;
}

EchoRemedy echo_at(const Measures& measures, Place place, double factor_cap) {
  Setting setting = present_setting(measures);
  setting.place = place;
  EchoRemedy echo{.place = place};
  echo.uncapped_factor = setting.factor = least_factor(measures, setting);
  echo.uncapped = predict(measures, setting);
  echo.factor = setting.factor = std::min(echo.uncapped_factor, factor_cap);
  echo.prediction = predict(measures, setting);
  return echo;
}

std::optional<EchoRemedy> best_echo(const Measures& measures, double factor_cap) {
  if (!std::isfinite(trainer_rows(measures, present_setting(measures)))) return std::nullopt;
  EchoRemedy best = echo_at(measures, echo_place(measures), factor_cap);
  // Those first whose repeats are worth most (docs/echoing.md).
  for (const Place place : {Place::kSample, Place::kRecord, Place::kAugmented, Place::kBatch}) {
    const EchoRemedy other = echo_at(measures, place, factor_cap);
    if (other.prediction.rows > kClearlyMore * best.prediction.rows) best = other;
  }
  return best;
}

}  // namespace

Remedies find_remedies(const Measures& measures, double factor_cap) {
  Remedies remedies;
  const Prediction now = predict(measures, present_setting(measures));
  if (now.stall > 0) remedies.most_to_win = now.stall / (1 - now.stall);
  remedies.workers = least_workers(measures);
  remedies.cached = least_cached(measures);
  remedies.echo = best_echo(measures, factor_cap);
  return remedies;
}

}  // namespace echoline::analyze
