// A rate over one number, with today's point on it: predictions for a stream over one setting, and
// measured rates of a store (store_rates.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/model.h"

namespace echoline::analyze {

struct CurvePoint {
  double x = 0;
  double rate = 0;  // finite
};

struct Curve {
  std::string key;                   // as in a question: "cache.share"
  std::string title;                 // "share of the records in caches"
  std::string unit{};                // after a value of x: "%"
  std::string quantity{"rows/s"};    // what the rate is; rows are those of one pass
  bool has_log_scale = false;        // of x
  std::vector<CurvePoint> points{};  // ascending x; empty: the rate is unknown
  CurvePoint now{};

  double most() const;  // rate
};

// Workers, cache, echo factor, store: what is easy to change first. Pure functions.
std::vector<Curve> curves_of(const Measures& measures);
// The curve on which the rate can grow most, the first one of those that are equal. Nothing: none
// of them gives 1 % more.
std::optional<Curve> most_telling(const std::vector<Curve>& curves);
// Two or three lines: a row of blocks, and where today is on it.
std::string curve_text(const Curve& curve);
// A value of x with its unit.
std::string x_text(const Curve& curve, double x);

}  // namespace echoline::analyze
