// The predicted rate of a stream over one setting, with the present one on it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/model.h"

namespace echoline::analyze {

struct CurvePoint {
  double x = 0;
  double rows = 0;  // per second, of one pass; finite
};

struct Curve {
  std::string key;                   // as in a question: "cache.share"
  std::string title;                 // "share of the records in caches"
  std::string unit{};                // after a value of x: "%"
  std::vector<CurvePoint> points{};  // ascending x; empty: the rate is unknown
  CurvePoint now{};

  double most() const;  // rows
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
