// The least change of each kind that removes a stall.
#pragma once

#include <cstdint>
#include <optional>

#include "analyze/model.h"

namespace echoline::analyze {

// Each leaves everything else as it is. Pure functions.
struct Remedies {
  // How much more all remedies together can give: G over the present rate, minus 1.
  double most_to_win = 0;
  // The least workers that prepare what the trainers take. Nothing: no number of them does, for the
  // cores that there are.
  std::optional<std::uint32_t> workers;
  // The least share of the records in caches with which fetching delivers what the trainers take.
  // Nothing: not even all of them, or it is unknown.
  std::optional<double> cached;
  // The least factor at the present echo point (`sample` where there is none) that gives the
  // highest rate, at most kFactorMax.
  double factor = 1;
  Prediction with_factor;
};

inline constexpr double kFactorMax = 64;

Remedies find_remedies(const Measures& measures);

}  // namespace echoline::analyze
