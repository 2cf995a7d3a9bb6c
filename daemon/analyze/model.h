// Predicts the rate of a stream under other settings, as DS-Analyzer does (Mohan et al., PVLDB
// 2021), extended by echo (Choi et al., arXiv 1907.05550). docs/analyze.md has the formulas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analyze/measures.h"

namespace echoline::analyze {

// What the questions vary.
struct Setting {
  std::uint32_t workers = 1;
  double cached = 0;         // share of the records that caches deliver
  double store_scale = 1;    // the store's rate, relative to the measured one
  double store_latency = 0;  // seconds to the first byte of a request; 0: as measured
  double trainer_scale = 1;  // the trainers' rate, in the same way
  std::uint32_t passes = 1;
  Place place = Place::kNone;
  double factor = 1;
  double image_scale = 1;  // sides of the finished images, relative to the present ones
};

// The setting in which the measures were taken.
Setting present_setting(const Measures& measures);
// Where echo is, or where it would be added: `sample` for a stream without it.
inline Place echo_place(const Measures& measures) {
  return measures.place == Place::kNone ? Place::kSample : measures.place;
}

enum class Limit : std::uint8_t { kTrainers, kWorkers, kStorage };
// As Verdict.limit.
inline constexpr std::string_view kLimitNames[] = {"trainers", "workers", "storage"};
inline std::string_view name_of(Limit limit) {
  return kLimitNames[static_cast<std::size_t>(limit)];
}

struct Prediction {
  double rows = 0;   // per second, of one pass
  double fresh = 0;  // of these, first uses
  double stall = 0;  // share of the trainers' time
  Limit limit = Limit::kTrainers;
};

// Pure functions.
// Records per second of the store, without caches; 0: unknown.
double store_records(const Measures& measures, const Setting& setting);
// Rates are rows per second of one pass; infinite where nothing limits.
double fetch_rows(const Measures& measures, const Setting& setting);
double worker_rows(const Measures& measures, const Setting& setting);
double trainer_rows(const Measures& measures, const Setting& setting);
Prediction predict(const Measures& measures, const Setting& setting);

// Whether the rate is lower than predicted, because a cost is not known: that of decoding pictures
// whole for `sample` echo, where they are decoded in part today.
bool is_optimistic(const Measures& measures, const Setting& setting);

// Seconds of one core for a fresh record and its uses.
double core_seconds(const Measures& measures, const Setting& setting);
// Cores that this many workers keep busy.
double cores_of(const Measures& measures, std::uint32_t workers);

}  // namespace echoline::analyze
