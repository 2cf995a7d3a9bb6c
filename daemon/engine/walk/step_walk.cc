#include "engine/walk/step_walk.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace echoline::engine {
namespace {

// Rows that are read from the plan at a time.
constexpr std::uint64_t kReadRows = 4096;

}  // namespace

StepWalk::StepWalk(const plan::Plan& plan, plan::Position start, OrderHistory history, bool tails)
    : plan_(plan),
      history_(std::move(history)),
      tails_(tails || start.row % plan.spec().batch_rows != 0),
      position_(start) {
  enter_epoch();
}

// A loop, because an epoch can have no step: under `drop`, a position near its end leaves no batch.
void StepWalk::enter_epoch() {
  while (true) {
    remake_epoch();
    if (position_.row < end_) return;
    end_epoch();
    position_ = {position_.epoch + 1, 0};
  }
}

void StepWalk::remake_epoch() {
  const std::uint64_t batch_rows = plan_.spec().batch_rows;
  // Rows that were walked stay the same, because a change begins where nothing was walked.
  epoch_ = history_.order(plan_, position_.epoch);
  // The buffer has rows of the order before.
  buffer_.clear();
  buffered_from_ = 0;
  end_ = epoch_->rows();
  // Under `drop`, only whole batches from this position on.
  if (!tails_ && plan_.spec().last == plan::LastBatch::kDrop && end_ > position_.row) {
    end_ = position_.row + rows_left() / batch_rows * batch_rows;
  }
}

// Its last batch bears the end mark: rows left after it are not published any more.
void StepWalk::end_epoch() {
  if (position_.row < epoch_->rows()) tails_from_ = position_.epoch + 1;
}

const shm::FactorLogEntry& StepWalk::change_factor(const FactorPlace& place) {
  const shm::FactorLogEntry& entry =
      history_.factors.append(place.epoch, place.change, place.since);
  // The rest of the present epoch has another order now.
  if (place.epoch == position_.epoch) remake_epoch();
  return entry;
}

void StepWalk::walk_tails() {
  tails_ = true;
  // An epoch that was ended without its tail stays so (tails_from).
  if (position_.row < end_) end_ = epoch_->rows();
}

const shm::WeightLogEntry& StepWalk::change_weights_at(const WeightPlace& place) {
  const auto& entry = history_.weights.append(place.epoch, place.change, place.since);
  if (place.epoch == position_.epoch) remake_epoch();
  return entry;
}

Step StepWalk::next() {
  if (position_.row >= end_) {
    position_ = {position_.epoch + 1, 0};
    enter_epoch();
  }
  const std::uint32_t batch_rows = plan_.spec().batch_rows;
  Step step;
  step.start = position_;
  step.uses = read_rows(std::min<std::uint64_t>(batch_rows, rows_left()));
  step.form = epoch_->form(position_.row / batch_rows);
  const bool fixed = plan_.spec().fixed_batches();
  if (fixed) read_batch(step);
  step.rows = static_cast<std::uint32_t>(step.uses.size());
  step.rows_end = fixed ? step.start.row + step.rows : factors().rows(step.start.epoch);
  position_.row += std::min<std::uint64_t>(batch_rows, rows_left());
  // Computed after the step: the mark belongs to the last step with rows of the epoch.
  step.end_of_epoch = position_.row >= end_;
  if (step.end_of_epoch) end_epoch();
  return step;
}

bool StepWalk::leap_to(plan::Position position) {
  const std::uint64_t batch_rows = plan_.spec().batch_rows;
  // The grid: steps of this epoch begin at multiples of a batch from where it was entered.
  const bool same_epoch = position.epoch == position_.epoch;
  const std::uint64_t grid = same_epoch ? position_.row % batch_rows : 0;
  const std::uint64_t row = position.row < grid ? 0 : position.row - grid;
  position.row = row / batch_rows * batch_rows + grid;
  if (position <= position_) return false;
  position_ = position;
  open_batches_.clear();
  enter_epoch();
  return true;
}

void StepWalk::return_to(plan::Position position) {
  ECHOLINE_CHECK(position <= position_ && !plan_.spec().fixed_batches());
  position_ = position;
  remake_epoch();
  const bool was_ended = position.epoch < tails_from_ && rows_left() < plan_.spec().batch_rows;
  if (was_ended) {
    // Without its tail, which readers that came later may want of later epochs.
    end_ = position.row;
  } else {
    tails_from_ = std::min(tails_from_, position.epoch);
  }
}

std::vector<plan::RowUse> StepWalk::read_rows(std::uint64_t count) {
  // Not enough rows left in the buffer.
  if (buffered_from_ + count > buffer_.size()) {
    // The plan finds its place again at each read: many rows at a time are cheaper.
    buffer_.resize(std::min(std::max(count, kReadRows), rows_left()));
    epoch_->read(position_.row, buffer_);
    buffered_from_ = 0;
  }
  const auto begin = buffer_.begin() + static_cast<std::ptrdiff_t>(buffered_from_);
  buffered_from_ += count;
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

void StepWalk::read_batch(Step& step) {
  step.batch = epoch_->batch_at(position_.row / plan_.spec().batch_rows);
  // As in SlotPool: unique, because an epoch has less than 2^40 batches.
  const std::uint64_t key = step.batch.record ^ static_cast<std::uint64_t>(position_.epoch) << 40;
  step.repeats_earlier = open_batches_.contains(key);
  if (step.batch.use + 1 == step.batch.uses) {
    open_batches_.erase(key);
  } else {
    open_batches_.insert(key);
  }
  // They are the last ones.
  const auto missing = std::find_if(step.uses.begin(), step.uses.end(),
                                    [](const plan::RowUse& use) { return !use.valid; });
  step.uses.erase(missing, step.uses.end());
}

}  // namespace echoline::engine
