// Where changes of a walk's order begin: the first place that leaves all rows as they are that were
// walked, or that somebody has.
#pragma once

#include <cstdint>

#include "engine/walk/weight_history.h"
#include "plan/plan_spec.h"
#include "plan/position.h"

namespace echoline::engine {

class StepWalk;

// Where a change of the factor begins.
struct FactorPlace {
  std::uint32_t epoch = 0;
  plan::FactorChange change;
  plan::Position since;  // states from there on hold it
};

// Where a change of the weights begins.
struct WeightPlace {
  std::uint32_t epoch = 0;
  plan::WeightChange change;
  plan::Position since;  // states from there on hold it
};

// See StepWalk::change_factor and change_weights.
FactorPlace place_of(const StepWalk& walk, std::uint32_t factor, std::uint64_t clear_rows,
                     plan::Position from);
WeightPlace place_of(const StepWalk& walk, const Weights& weights, plan::Position from);

// Rows behind the place were walked.
bool is_past(const StepWalk& walk, const FactorPlace& place);
bool is_past(const StepWalk& walk, const WeightPlace& place);

}  // namespace echoline::engine
