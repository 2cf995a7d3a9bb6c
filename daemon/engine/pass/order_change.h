// Changes of a pass's order: of its echo factor (semantics.md, Changing the factor), and of the
// weights of its sources.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"
#include "engine/api/stats.h"
#include "engine/pass/pass.h"
#include "engine/walk/step_walk.h"
#include "engine/walk/weight_history.h"
#include "plan/position.h"

namespace echoline::engine {

// The grid of a trainer's batches: where the first one begins, and the rows of each; and the
// trainer as a reader of the pass's ring.
struct BatchGrid {
  plan::Position start;
  std::uint64_t batch_rows = 0;
  std::uint64_t reader = 0;
};

// What a change has to respect of the jobs that read the pass.
struct Readers {
  std::uint64_t batch_rows_most = 0;
  plan::Position foremost;  // of the states that they came with: earlier rows are fixed
  std::vector<BatchGrid> grids{};
};

// kResourceExhausted if the ring's log of these changes is full.
Status check_factor_change(const Pass& pass);
Status check_weight_change(const Pass& pass);

// Changes the factor from the next block on of which no batch was begun, of the pass nor of a job,
// nor a row was skipped; nothing if it is the present one. The caller fills in the jobs. Only after
// check_factor_change, in the same step of the stream.
std::optional<FactorStart> change_factor(Pass& pass, std::uint32_t factor, const Readers& readers);
// As change_factor, the weights, from the next row without echo of which nothing is planned either.
std::optional<WeightStart> change_weights(Pass& pass, const Weights& weights,
                                          const Readers& readers);

// Where hosts agree on a change: from where on nothing of the pass is planned, nor has any state of
// its readers; the place at which the functions above would put the change; and the change, at a
// place that they have agreed upon. An error if this pass is past it, or has another order.
plan::Position first_free(const Pass& pass, const Readers& readers);
FactorPlace place_of(const Pass& pass, std::uint32_t factor, const Readers& readers);
WeightPlace place_of(const Pass& pass, const Weights& weights, const Readers& readers);
Status change_factor_at(Pass& pass, const FactorPlace& place);
Status change_weights_at(Pass& pass, const WeightPlace& place);

}  // namespace echoline::engine
