#include "engine/pass/join_table.h"

#include <algorithm>
#include <utility>

namespace echoline::engine {

JoinTable::JoinTable(const StreamCore& core, ring::Ring& ring, plan::Position start,
                     OrderHistory history, bool tails, bool held)
    : core_(core),
      ring_(ring),
      walk_(*core.plan, start, std::move(history), tails),
      published_(core.ring_spec.descriptors_live),
      next_position_(walk_.position()),
      lanes_(core.plan->spec().lanes, core.ring_spec.batch_rows),
      lanes_known_(core.plan->spec().lanes == 1),
      held_(held),
      planned_position_(walk_.position()),
      begun_position_(walk_.position()) {}

std::optional<JoinTable::NextStep> JoinTable::next_step() {
  const MutexLock lock(mutex_);
  if (held_) return std::nullopt;
  NextStep next;
  // The walk and the lanes are read in one step: a reader that joins sees both before or both
  // after.
  next.step = walk_.next();
  next.lanes_dropped = std::exchange(lanes_dropped_, false);
  // A lane that is added from now on begins with the next step.
  next.end = planned_position_ = walk_.position();
  next.is_replanned = std::exchange(replans_, false);
  next.prepared.resize(next.step.rows);
  for (std::uint32_t row = 0; row < next.step.rows; ++row) {
    next.prepared[row] = lanes_.has_row(next.step.start.row + row, next.step.rows_end);
  }
  return next;
}

bool JoinTable::try_begin_step(plan::Position end) {
  const MutexLock lock(mutex_);
  if (!replans_) begun_position_ = end;
  return !replans_;
}

void JoinTable::publish(const shm::Descriptor& descriptor) {
  const MutexLock lock(mutex_);
  // Under the lock: join() must not see a batch that is in the ring and not in `published_`.
  const std::uint64_t sequence = ring_.publish(descriptor);
  published_.add(descriptor, sequence);
  // At the end of an epoch this is the row after its last one, which means row 0 of the next epoch.
  next_position_ = {descriptor.epoch, descriptor.row + descriptor.valid_rows};
}

bool JoinTable::skip(const DropPlanned& drop_planned) {
  const MutexLock lock(mutex_);
  // With the lock held, so that no reader joins at a step that is being dropped.
  const std::optional<plan::Position> kept = drop_planned(std::exchange(replans_, false));
  bool leapt = false;
  if (!kept.has_value()) {
    // Nothing planned is wanted: the walk goes directly to the first row that a reader wants.
    const std::optional<plan::Position> wanted = ring_.next_wanted();
    // A held walk stays where it has said that it is.
    leapt = !held_ && wanted.has_value() && walk_.leap_to(*wanted);
    planned_position_ = walk_.position();
  }
  begun_position_ = next_position_ = kept.value_or(walk_.position());
  // A reader that started at a descriptor published before would miss the rows left out after it.
  published_.clear();
  return leapt;
}

Result<std::optional<ring::Ring::Reader>> JoinTable::join(plan::Position position, bool tails,
                                                          const LaneSet& lanes) {
  const MutexLock lock(mutex_);
  // That epoch was ended without its tail, so the rows are gone.
  if (tails && position.epoch < walk_.tails_from()) return std::optional<ring::Ring::Reader>();
  const std::optional<std::uint64_t> sequence = sequence_of(position);
  if (!sequence.has_value()) return std::optional<ring::Ring::Reader>();
  // The reader is added first, so that the descriptor cannot be released between check and join.
  ECHOLINE_ASSIGN(const ring::Ring::Reader reader, ring_.add_reader(*sequence, position));
  // The ring clamps the first sequence: another reader may have released that descriptor by now.
  if (reader.first_sequence <= *sequence && lanes_.add(lanes, position, planned_position_)) {
    if (tails) walk_.walk_tails();
    return std::optional(reader);
  }
  // The lanes or the descriptor are missing: the reader must not keep slots.
  ring_.remove_reader(reader.id);
  return std::optional<ring::Ring::Reader>();
}

std::optional<std::uint64_t> JoinTable::sequence_of(plan::Position position) const {
  if (position >= next_position_) {
    // A little ahead: the reader waits for it here, instead of having it prepared twice.
    const std::uint64_t reach = std::uint64_t{core_.slots} * core_.ring_spec.batch_rows;
    // `position` is not before next_position_, so the difference cannot be negative.
    if (position.epoch - next_position_.epoch > 1) return std::nullopt;
    const FactorHistory& factors = walk_.factors();
    const std::uint64_t rows =
        factors.absolute_row(position) - factors.absolute_row(next_position_);
    return rows <= reach ? std::optional(ring_.published()) : std::nullopt;
  }
  return published_.with_row(position, ring_.released());
}

void JoinTable::keep_lanes(const LaneSet& wanted) {
  {
    const MutexLock lock(mutex_);
    // The next step clears the window, because it holds records of dropped lanes.
    lanes_dropped_ |= lanes_.keep(wanted);
  }
  if (!lanes_known_.exchange(true)) ring_.interrupt();
}

bool JoinTable::may_read_ahead() const {
  return lanes_known_.load() && ring_.next_wanted().has_value();
}

plan::Position JoinTable::next_position() const {
  const MutexLock lock(mutex_);
  return next_position_;
}

// Changes of the order (semantics.md, Changing the factor). The lock puts the change between two
// steps.

std::uint32_t JoinTable::oldest_epoch() const {
  // Readers may still be in the epoch of the oldest batch that is not released.
  return published_.oldest_epoch(ring_.released()).value_or(next_position_.epoch);
}

JoinTable::NeededHistory JoinTable::needed_history() const {
  const MutexLock lock(mutex_);
  NeededHistory needed{walk_.history(), oldest_epoch()};
  needed.history.forget_before(needed.oldest_epoch);
  return needed;
}

void JoinTable::change_order(Behind behind, const Change& change) {
  const MutexLock lock(mutex_);
  walk_.forget_changes_before(oldest_epoch());
  if (behind == Behind::kBegun && !held_ && !core_.plan->spec().fixed_batches()) {
    walk_.return_to(begun_position_);
    planned_position_ = begun_position_;
    replans_ = true;
  }
  change(walk_, ring_);
}

void JoinTable::hold() {
  const MutexLock lock(mutex_);
  held_ = true;
}

void JoinTable::release() {
  {
    const MutexLock lock(mutex_);
    held_ = false;
  }
  ring_.interrupt();
}

}  // namespace echoline::engine
