// The batches of a pass, one after the other: which rows of which epoch, tails and epoch borders
// included.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_set>
#include <vector>

#include "engine/walk/change_place.h"
#include "engine/walk/order_history.h"
#include "plan/plan.h"
#include "plan/position.h"

namespace echoline::engine {

// One batch to be made, or to be published once more.
struct Step {
  plan::Position start;
  std::uint32_t rows = 0;  // valid ones
  // Of the rows that ranks divide: the epoch's end, or that of a batch that is fixed.
  std::uint64_t rows_end = 0;
  bool end_of_epoch = false;
  std::vector<plan::RowUse> uses;  // of the valid rows
  plan::BatchForm form;
  plan::RowUse batch;            // under batch echo: which fresh batch, which of its uses
  bool repeats_earlier = false;  // this walk has come by that batch before
};

// Not thread safe.
class StepWalk {
 public:
  // With `tails`, or from a start between two batches of the stream, it begins as after
  // walk_tails(): so readers of the stream's batches miss nothing, wherever the walk began.
  StepWalk(const plan::Plan& plan, plan::Position start, OrderHistory history, bool tails);

  Step next();
  // Goes on with the batch of its own grid that holds `position`, if that lies ahead; true if any
  // was left out.
  bool leap_to(plan::Position position);
  // Goes back to where it was once; the steps from there on are walked again. Not with fixed
  // batches.
  void return_to(plan::Position position);

  const plan::Plan& plan() const { return plan_; }
  plan::Position position() const { return position_; }
  // The order of the epoch that the position is in, and whether nothing of it is left.
  const plan::EpochPlan& epoch() const { return *epoch_; }
  bool is_at_end_of_epoch() const { return position_.row >= end_; }

  // From now on the rows that do not fill a batch are walked under `drop` too, for jobs that read
  // off the stream's grid. Of tails_from() and later epochs none was ended with such rows left.
  void walk_tails();
  bool has_tails() const { return tails_; }
  std::uint32_t tails_from() const { return tails_from_; }

  const OrderHistory& history() const { return history_; }
  const FactorHistory& factors() const { return history_.factors; }
  // Another factor from the next block on: the first one that is not before `from` and of which
  // nothing was walked. From the next epoch on if this one's last blocks are too near
  // (semantics.md, Changing the factor), or if its end is less than `clear_rows` away before or
  // after the change: a job that has begun its last batches must not see their number change.
  const shm::FactorLogEntry& change_factor(std::uint32_t factor, std::uint64_t clear_rows,
                                           plan::Position from = {}) {
    return change_factor(place_of(*this, factor, clear_rows, from));
  }
  // Other weights, likewise, from the next row without echo on. The plan accepts them as those of
  // whole epochs.
  const shm::WeightLogEntry& change_weights(const Weights& weights, plan::Position from = {}) {
    return change_weights_at(place_of(*this, weights, from));
  }
  // At a place that is not past, and that the history can append.
  const shm::FactorLogEntry& change_factor(const FactorPlace& place);
  const shm::WeightLogEntry& change_weights_at(const WeightPlace& place);
  void forget_changes_before(std::uint32_t epoch) { history_.forget_before(epoch); }

 private:
  // Opens the epoch of the position, or the next one that has a step.
  void enter_epoch();
  // Asks the plan for the present epoch again, with the present changes.
  void remake_epoch();
  // Notes where an epoch was ended with rows left.
  void end_epoch();
  // For plans with fixed batches: fills in which batch and which use the step is, and removes the
  // rows that the batch does not have.
  void read_batch(Step& step);
  // The uses of the next rows, read from the plan many at a time.
  std::vector<plan::RowUse> read_rows(std::uint64_t count);
  std::uint64_t rows_left() const { return end_ - position_.row; }

  const plan::Plan& plan_;
  OrderHistory history_;
  bool tails_;
  std::uint32_t tails_from_ = 0;
  plan::Position position_;
  std::unique_ptr<plan::EpochPlan> epoch_;
  std::uint64_t end_ = 0;             // of what is walked of this epoch
  std::vector<plan::RowUse> buffer_;  // rows of this epoch, read ahead
  std::uint64_t buffered_from_ = 0;
  std::unordered_set<std::uint64_t> open_batches_;  // with uses to come
};

}  // namespace echoline::engine
