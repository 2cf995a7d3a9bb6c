// The part of a pass that changes its echo factor (semantics.md, Changing the factor). What is
// planned stays, and planning goes on from one lock to the next: a change between two steps needs
// nothing of the pass's thread.

#include <fmt/format.h>

#include <algorithm>

#include "engine/pass/pass.h"

namespace echoline::engine {

// With marks_mutex_ held: the epoch of the first row that some reader may still want.
std::uint32_t Pass::oldest_epoch() const {
  const std::uint64_t released = ring_->released();
  const auto kept = std::find_if(marks_.begin(), marks_.end(),
                                 [&](const Mark& mark) { return mark.sequence >= released; });
  return kept == marks_.end() ? next_position_.epoch : kept->start.epoch;
}

FactorHistory Pass::factors() const {
  std::lock_guard lock(marks_mutex_);
  return walk_.factors();
}

bool Pass::follows(plan::Position position, const FactorHistory& state) const {
  const FactorHistory here = factors();
  if (!here.knows(position.epoch)) return false;
  // A state that was saved before a change takes part in it, as who reads on without a break does.
  // A trainer that lost its daemon, or moves here, brings along all that it had heard of.
  return here.as_of(position).equals_from(position.epoch, state) ||
         here.equals_from(position.epoch, state);
}

Status Pass::check_factor_change() const {
  std::lock_guard lock(marks_mutex_);
  FactorHistory needed = walk_.factors();
  needed.forget_before(oldest_epoch());
  if (needed.entries().size() < shm::kFactorLogEntries) return {};
  return Status(Code::kResourceExhausted,
                fmt::format("{} changes of the factor an epoch are possible, and so many were made "
                            "since the first row of epoch {}, which trainers still read; try again "
                            "in the next epoch",
                            shm::kFactorLogEntries, oldest_epoch()));
}

std::optional<FactorStart> Pass::change_factor(std::uint32_t factor, const Readers& readers) {
  std::lock_guard lock(marks_mutex_);
  if (walk_.factors().factor() == factor) return std::nullopt;
  walk_.forget_factors_before(oldest_epoch());
  // Two batches, so that whatever rank began one, and looked for the next, counted right.
  const shm::FactorLogEntry& entry =
      walk_.change_factor(factor, 2 * readers.batch_rows_most, readers.foremost);
  ring_->log_factor(entry);
  return FactorStart{
      .jobs = {}, .epoch = entry.since_epoch, .block = entry.block, .row = entry.since_row - 1};
}

}  // namespace echoline::engine
