#include "loader/stream_position.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace echoline::client {
namespace {

Error too_many_steps() { return {ECHOLINE_INVALID_ARGUMENT, "that many steps can't be skipped"}; }

}  // namespace

Error StreamPosition::attach(const RingView& ring, const Position& position) {
  epoch_rows_.reset();
  current_ = position;
  return follow(ring);
}

Error StreamPosition::follow(const RingView& ring) {
  ring_ = &ring;
  // Forgets the entries of the ring before.
  changes_.follow(ring.factor_log(), header().factor, header().rows_per_epoch);
  weights_.follow(ring.weight_log());
  return update_changes();
}

Error StreamPosition::update_changes() {
  if (!changes_.update(current_.epoch)) {
    return {ECHOLINE_DATA_LOSS, "the daemon's ring is not valid: its log of factor changes"};
  }
  if (!weights_.update(current_.epoch)) {
    return {ECHOLINE_DATA_LOSS, "the daemon's ring is not valid: its log of weights"};
  }
  return {};
}

std::optional<std::uint64_t> StreamPosition::epoch_rows() const {
  // A descriptor is right in any case; the plan's length may not be known for a variable factor.
  if (epoch_rows_) return epoch_rows_;
  if (has(shm::kRingVariable)) return std::nullopt;
  return changes_.rows(current_.epoch);
}

bool StreamPosition::epoch_is_over() const {
  const auto rows = epoch_rows();
  return rows && steps_between(slice_, current_.row, *rows) == 0;
}

std::uint64_t StreamPosition::first_row_needed() const {
  if (has_fixed_batches()) return current_.row;
  // The batch may be short, and its rows are then divided in another way.
  const auto rows = epoch_rows();
  if (rows && current_.row < *rows) {
    const std::uint64_t valid = std::min(slice_.batch_size, *rows - current_.row);
    return current_.row + rank_rows(slice_, valid).first_row();
  }
  return current_.row;
}

void StreamPosition::enter_next_epoch() {
  current_ = {current_.epoch + 1, 0};
  epoch_rows_.reset();
  begun_ = false;
}

// After the last batch the position is the start of the next epoch, also for states. The trainer
// still gets its END_OF_EPOCH first.
void StreamPosition::advance(bool last_of_epoch) {
  if (last_of_epoch) {
    enter_next_epoch();
    pending_end_ = true;
  } else {
    current_.row += slice_.batch_size;
    begun_ = true;
  }
}

bool StreamPosition::take_pending_end() { return std::exchange(pending_end_, false); }

bool StreamPosition::begin_epoch() {
  // The trainer begins an epoch itself, so it need not learn of the end.
  pending_end_ = false;
  // No batch of this epoch was taken since: the position stays.
  if (!begun_) return false;
  enter_next_epoch();
  return true;
}

Error StreamPosition::skip(std::uint64_t steps) {
  if (Error e = update_changes(); !e.ok()) return e;
  const auto rows = epoch_rows();
  if (!rows) {
    // The end of the epoch is not known. If the position passes it, try_next finds that out.
    // Far below an overflow of the row.
    if (steps > std::numeric_limits<std::uint64_t>::max() / 2 / slice_.batch_size) {
      return too_many_steps();
    }
    current_.row += steps * slice_.batch_size;
    return {};
  }
  const std::uint64_t left = steps_between(slice_, current_.row, *rows);
  if (steps < left) {
    current_.row += steps * slice_.batch_size;
    return {};
  }
  return skip_to_known_epoch(steps, left);
}

Error StreamPosition::skip_to_known_epoch(std::uint64_t steps, std::uint64_t left) {
  Position to{current_.epoch + 1, 0};
  std::uint64_t beyond = steps - left;
  const auto whole = [&] { return steps_between(slice_, 0, changes_.rows(to.epoch)); };
  // Epochs up to the last change differ in length and are passed one by one; all after it have the
  // same length, so a division finds the rest.
  for (; to.epoch < changes_.last_epoch() && beyond >= whole(); ++to.epoch) beyond -= whole();
  if (whole() == 0 || beyond / whole() >= std::numeric_limits<std::uint32_t>::max() - to.epoch) {
    return too_many_steps();
  }
  to.epoch += static_cast<std::uint32_t>(beyond / whole());
  to.row = beyond % whole() * slice_.batch_size;
  // A loop that is in the middle of an epoch still gets its END_OF_EPOCH.
  pending_end_ = pending_end_ || begun_;
  enter_next_epoch();
  current_ = to;
  return {};
}

bool StreamPosition::is_variable() {
  // A log that is not valid is reported by the next batch.
  (void)changes_.update(current_.epoch);
  return has(shm::kRingVariable) || changes_.any();
}

std::vector<shm::FactorEntry> StreamPosition::changes_of_state() {
  (void)changes_.update(current_.epoch);
  return changes_.of_state(current_);
}

std::vector<shm::FactorEntry> StreamPosition::changes_known() {
  (void)changes_.update(current_.epoch);
  return changes_.all_from(current_.epoch);
}

std::vector<shm::WeightEntry> StreamPosition::weights_of_state() {
  (void)weights_.update(current_.epoch);
  return weights_.of_state(current_);
}

std::vector<shm::WeightEntry> StreamPosition::weights_known() {
  (void)weights_.update(current_.epoch);
  return weights_.all_from(current_.epoch);
}

std::optional<std::uint64_t> StreamPosition::steps_per_epoch() {
  if (is_variable()) return std::nullopt;
  return steps_between(slice_, 0, header().rows_per_epoch);
}

}  // namespace echoline::client
