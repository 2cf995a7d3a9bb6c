// The changes of a pass's echo factor, oldest first, and what they make of its epochs.
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

// A value. One thread at a time; refers to the plan.
class FactorHistory {
 public:
  explicit FactorHistory(const plan::Plan& plan) : plan_(&plan) {}
  // As a trainer's state has them: changes within `epoch`, or as many epochs after it as they say;
  // of epochs before it nothing is known. kInvalidArgument for what the plan cannot keep.
  static Result<FactorHistory> of_state(const plan::Plan& plan, std::uint32_t epoch,
                                        std::span<const shm::FactorEntry> changes);

  bool empty() const { return entries_.empty(); }
  const std::vector<shm::FactorLogEntry>& entries() const { return entries_; }
  // That of the last rows.
  std::uint32_t factor() const {
    return entries_.empty() ? plan_->spec().factor : entries_.back().factor;
  }
  std::vector<plan::FactorChange> list(std::uint32_t epoch) const;
  std::uint64_t rows(std::uint32_t epoch) const;
  // Whether coming epochs have no rows at all, because `drop` leaves them out.
  bool has_empty_epochs() const;
  // Rows from the first epoch that it has ever known to this position.
  std::uint64_t absolute_row(plan::Position position) const;

  // What a state at `position` holds.
  FactorHistory as_of(plan::Position position) const;
  // Whether it walks `epoch` and all later ones as the other does.
  bool equals_from(std::uint32_t epoch, const FactorHistory& other) const;

  // Whether the plan can keep such a change after the last one, or in its place.
  bool can_append(std::uint32_t epoch, plan::FactorChange change) const;
  // The change begins at its block of `epoch`, which must not be before the last entry's. States
  // from `since` on have it.
  const shm::FactorLogEntry& append(std::uint32_t epoch, plan::FactorChange change,
                                    plan::Position since);
  // Forgets which changes there were before `epoch`; the factor that it begins with stays.
  void forget_before(std::uint32_t epoch);
  // Whether it has all changes of that epoch.
  bool knows(std::uint32_t epoch) const { return entries_.empty() || epoch >= known_from_; }

 private:
  // Rows of all known epochs before this one.
  std::uint64_t rows_before(std::uint32_t epoch) const;

  const plan::Plan* plan_;
  std::vector<shm::FactorLogEntry> entries_;
  // Of epochs before this one entries may be forgotten, or never were told.
  std::uint32_t known_from_ = 0;
  std::uint64_t rows_before_known_ = 0;  // counted as long as they were known
};

}  // namespace echoline::engine
