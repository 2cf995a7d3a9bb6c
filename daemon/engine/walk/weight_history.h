// The changes of the weights of a pass's sources, oldest first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "echoline/shm/door.h"
#include "echoline/shm/ring_layout.h"
#include "plan/plan.h"
#include "plan/position.h"

namespace echoline::engine {

// Of each source of a mixture, in thousandths.
using Weights = std::vector<std::uint32_t>;

// A value. One thread at a time; refers to the plan.
class WeightHistory {
 public:
  explicit WeightHistory(const plan::Plan& plan) : plan_(&plan) {}
  // As a trainer's state has them; see FactorHistory::of_state. kInvalidArgument for what the plan
  // cannot keep.
  static Result<WeightHistory> of_state(const plan::Plan& plan, std::uint32_t epoch,
                                        std::span<const shm::WeightEntry> changes);

  bool empty() const { return entries_.empty(); }
  const std::vector<shm::WeightLogEntry>& entries() const { return entries_; }
  // Those of the last rows; none without a mixture.
  Weights weights() const;
  std::vector<plan::WeightChange> list(std::uint32_t epoch) const;

  // What a state at `position` holds.
  WeightHistory as_of(plan::Position position) const;
  // Whether it walks `epoch` and all later ones as the other does.
  bool equals_from(std::uint32_t epoch, const WeightHistory& other) const;

  // Whether the plan can keep such a change after the last one, or in its place.
  bool can_append(std::uint32_t epoch, const plan::WeightChange& change) const;
  // The change begins at its row of `epoch`, which must not be before the last entry's. States from
  // `since` on have it.
  const shm::WeightLogEntry& append(std::uint32_t epoch, const plan::WeightChange& change,
                                    plan::Position since);
  // `epoch`, of which nothing was walked yet, begins with these weights.
  void begin_with(std::uint32_t epoch, const Weights& weights);
  // Forgets which changes there were before `epoch`; the weights that it begins with stay.
  void forget_before(std::uint32_t epoch);
  // Whether it has all changes of that epoch.
  bool knows(std::uint32_t epoch) const { return entries_.empty() || epoch >= known_from_; }

 private:
  const plan::Plan* plan_;
  std::vector<shm::WeightLogEntry> entries_;
  std::uint32_t known_from_ = 0;  // of epochs before it entries may be missing
};

}  // namespace echoline::engine
