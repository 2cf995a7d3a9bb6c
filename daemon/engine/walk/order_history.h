// The changes of a pass's order: of its echo factor, and of the weights of its sources.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "engine/walk/factor_history.h"
#include "engine/walk/weight_history.h"
#include "plan/plan.h"
#include "plan/position.h"

namespace echoline::engine {

// A value. One thread at a time; refers to the plan. The methods are those of its parts.
struct OrderHistory {
  explicit OrderHistory(const plan::Plan& plan) : factors(plan), weights(plan) {}
  OrderHistory(FactorHistory of_factors, WeightHistory of_weights)
      : factors(std::move(of_factors)), weights(std::move(of_weights)) {}

  FactorHistory factors;
  WeightHistory weights;

  std::unique_ptr<plan::EpochPlan> order(const plan::Plan& plan, std::uint32_t epoch) const {
    return plan.epoch(epoch, factors.list(epoch), weights.list(epoch));
  }
  OrderHistory as_of(plan::Position position) const {
    return {factors.as_of(position), weights.as_of(position)};
  }
  bool equals_from(std::uint32_t epoch, const OrderHistory& other) const {
    return factors.equals_from(epoch, other.factors) && weights.equals_from(epoch, other.weights);
  }
  // Whether a trainer with this state gets the rows here that its state promises. `strict`: not
  // even with changes after that position, which the state's run may not have.
  bool follows(plan::Position position, const OrderHistory& state, bool strict) const {
    if (!knows(position.epoch)) return false;
    // A state that was saved before a change takes part in the change, as an uninterrupted reader
    // does. A trainer that lost its daemon, or is moved here, brings all changes that it has seen.
    return equals_from(position.epoch, state) ||
           (!strict && as_of(position).equals_from(position.epoch, state));
  }
  void forget_before(std::uint32_t epoch) {
    factors.forget_before(epoch);
    weights.forget_before(epoch);
  }
  bool knows(std::uint32_t epoch) const { return factors.knows(epoch) && weights.knows(epoch); }
};

}  // namespace echoline::engine
