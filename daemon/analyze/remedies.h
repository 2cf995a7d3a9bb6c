// The least change of each kind that removes a stall.
#pragma once

#include <cstdint>
#include <optional>

#include "analyze/model.h"
#include "config/echo_advice.h"

namespace echoline::analyze {

// The least factor with the highest rate, at one of the places.
struct EchoRemedy {
  Place place = Place::kSample;
  double factor = 1;  // at most the cap
  Prediction prediction{};
  // The same without the cap: at most kFactorMax.
  double uncapped_factor = 1;
  Prediction uncapped{};
};

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
  // At the place with the highest rate. A place is left for one at which uses share more only if
  // that gives clearly more. Nothing: it is unknown what the trainers take.
  std::optional<EchoRemedy> echo;
};

inline constexpr double kFactorMax = 64;

// `factor_cap`: beyond it, nobody has shown what repeats are worth.
Remedies find_remedies(const Measures& measures, double factor_cap = config::kAdvisedFactor);

}  // namespace echoline::analyze
