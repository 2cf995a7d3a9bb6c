#include "engine/walk/change_place.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/walk/step_walk.h"

namespace echoline::engine {
namespace {

// The first position whose state may hold the last change of the weights.
plan::Position weights_held_from(const WeightHistory& weights) {
  if (weights.empty()) return {};
  const shm::WeightLogEntry& last = weights.entries().back();
  return {last.since_epoch, last.since_row == 0 ? 0 : last.since_row - 1};
}

// The change as it can begin in the epoch of `from`; nothing if it cannot.
std::optional<plan::FactorChange> change_within(const StepWalk& walk, plan::Position from,
                                                std::uint32_t factor, std::uint64_t clear_rows) {
  const plan::Plan& plan = walk.plan();
  std::vector<plan::FactorChange> list = walk.factors().list(from.epoch);
  const auto order = plan.epoch(from.epoch, list);
  const bool is_walked = from.epoch == walk.position().epoch && walk.is_at_end_of_epoch();
  if (is_walked || order->rows() < from.row + clear_rows) return std::nullopt;
  plan::FactorChange change{order->next_block(from.row), factor};
  // A change is pending at that block or later: the new factor replaces it.
  if (!list.empty() && list.back().block >= change.block) {
    change.block = list.back().block;
    list.pop_back();
  }
  list.push_back(change);
  if (!plan.check_changes(list).ok()) return std::nullopt;
  // A smaller factor makes the epoch shorter, so its end is checked after the change, too.
  const bool stays_clear = plan.epoch(from.epoch, list)->rows() >= from.row + clear_rows;
  return stays_clear ? std::optional(change) : std::nullopt;
}

// The change of the weights as it can begin in the epoch of `from`; nothing if it cannot.
std::optional<plan::WeightChange> weights_within(const StepWalk& walk, plan::Position from,
                                                 const Weights& weights) {
  std::vector<plan::WeightChange> list = walk.history().weights.list(from.epoch);
  const auto order = walk.history().order(walk.plan(), from.epoch);
  // Not before the last change, which may begin behind what is walked.
  const std::uint64_t row = std::max(order->next_item(std::min(from.row, order->rows())),
                                     list.empty() ? 0 : list.back().row);
  if (!list.empty() && list.back().row == row) list.pop_back();
  list.push_back({.row = row, .weights = weights});
  // The end of the epoch is near, or together with its other weights a source would come too often.
  return walk.plan().check_weights(list).ok() ? std::optional(std::move(list.back()))
                                              : std::nullopt;
}

}  // namespace

FactorPlace place_of(const StepWalk& walk, std::uint32_t factor, std::uint64_t clear_rows,
                     plan::Position from) {
  const FactorHistory& factors = walk.factors();
  // Never before what is walked already, nor before a change of the weights: the rows from which
  // states hold that one are counted with the factors from before.
  from = std::max({from, walk.position(), weights_held_from(walk.history().weights)});
  if (!factors.empty() && factors.entries().back().epoch > from.epoch) {
    // The one before begins later still, and was to hold from there on.
    const shm::FactorLogEntry& later = factors.entries().back();
    return {later.epoch, {later.block, factor}, {later.since_epoch, later.since_row}};
  }
  const auto change = change_within(walk, from, factor, clear_rows);
  // No room in this epoch: the next one begins with the factor, at block 0. The state of its row 1
  // is the first to contain it.
  if (!change) return {from.epoch + 1, {0, factor}, {from.epoch + 1, 1}};
  return {from.epoch, *change, {from.epoch, from.row + 1}};
}

WeightPlace place_of(const StepWalk& walk, const Weights& weights, plan::Position from) {
  const plan::PlanSpec& spec = walk.plan().spec();
  const WeightHistory& before = walk.history().weights;
  from = std::max(from, walk.position());
  // Also where another host may have walked the epoch to its end already.
  const bool is_tail = spec.last == plan::LastBatch::kDrop &&
                       from.row + spec.batch_rows > walk.factors().rows(from.epoch);
  const bool is_walked = from == walk.position() && walk.is_at_end_of_epoch();
  if (is_tail || is_walked) from = {from.epoch + 1, 0};
  if (!before.empty() && before.entries().back().epoch > from.epoch) {
    // The one before begins later still, and was to hold from there on.
    const shm::WeightLogEntry& later = before.entries().back();
    from = {later.epoch, later.since_epoch == later.epoch ? later.since_row - 1 : 0};
  }
  const auto change = weights_within(walk, from, weights);
  if (!change) return {from.epoch + 1, {.row = 0, .weights = weights}, {from.epoch + 1, 1}};
  return {from.epoch, *change, {from.epoch, from.row + 1}};
}

bool is_past(const StepWalk& walk, const FactorPlace& place) {
  const auto [epoch, row] = walk.position();
  if (place.epoch != epoch) return place.epoch < epoch;
  return walk.is_at_end_of_epoch() || place.change.block < walk.epoch().next_block(row);
}

bool is_past(const StepWalk& walk, const WeightPlace& place) {
  const auto [epoch, row] = walk.position();
  if (place.epoch != epoch) return place.epoch < epoch;
  return walk.is_at_end_of_epoch() || place.change.row < walk.epoch().next_item(row);
}

}  // namespace echoline::engine
