// The batches of a pass, one after the other: which rows of which epoch, tails and epoch borders
// included.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_set>
#include <vector>

#include "plan/plan.h"
#include "plan/position.h"

namespace echoline::engine {

// One batch to be made, or to be published once more.
struct Step {
  plan::Position start;
  std::uint32_t rows = 0;  // valid ones
  bool end_of_epoch = false;
  std::vector<plan::RowUse> uses;  // of the valid rows
  plan::RowUse batch;              // under batch echo: which fresh batch, which of its uses
  bool repeats_earlier = false;    // this walk has come by that batch before
};

// Not thread safe.
class StepWalk {
 public:
  // `tails`: as after walk_tails().
  StepWalk(const plan::Plan& plan, plan::Position start, std::vector<plan::FactorChange> changes,
           bool tails);

  Step next();
  // Goes on with the batch of its own grid that holds `position`, if that lies ahead; true if any
  // was left out.
  bool leap_to(plan::Position position);
  plan::Position position() const { return position_; }

  // From now on the rows that do not fill a batch are walked under `drop` too, for jobs of other
  // batch sizes: from which epoch on, that is open until the last of its other batches was walked.
  void walk_tails();
  std::uint32_t tails_open_from() const { return position_.epoch + (rows_left() == 0 ? 1 : 0); }

 private:
  void enter_epoch();
  void read_batch(Step& step);
  std::vector<plan::RowUse> read_rows(std::uint64_t count);
  std::uint64_t rows_left() const { return end_ - position_.row; }

  const plan::Plan& plan_;
  std::vector<plan::FactorChange> changes_;  // of the first epoch
  bool tails_;
  plan::Position position_;
  std::unique_ptr<plan::EpochPlan> epoch_;
  std::uint64_t end_ = 0;             // of what is walked of this epoch
  std::vector<plan::RowUse> buffer_;  // rows of this epoch, read ahead
  std::uint64_t buffered_from_ = 0;
  std::unordered_set<std::uint64_t> open_batches_;  // with uses to come
};

}  // namespace echoline::engine
