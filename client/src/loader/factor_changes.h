// The changes of the echo factor in a ring's log, as far as they matter from a position on.
#pragma once

#include <cstdint>
#include <vector>

#include "echoline/shm/factor_log.h"
#include "loader/change_log.h"
#include "state/position.h"

namespace echoline::client {

// One thread at a time.
class FactorChanges {
 public:
  // Switches to this log and forgets all entries of the one before. Null: the factor never changes.
  // The log must outlive the last update(). `plan_factor` (thousandths) and `plan_rows` (per epoch)
  // apply before the first change.
  void follow(const shm::FactorLog* log, std::uint32_t plan_factor, std::uint64_t plan_rows);
  // Reads new entries of the log. Keeps those of `epoch` and later, and the newest one before them:
  // it has the factor with which `epoch` begins. Costs one atomic load while nothing is new.
  // Returns false if the log is not valid.
  bool update(std::uint32_t epoch);

  // Whether there are changes, so that epochs differ in length.
  bool any() const { return !entries().empty(); }
  // As far as is known, all epochs after this one have the same length.
  std::uint32_t last_epoch() const { return entries().empty() ? 0 : entries().back().epoch; }
  std::uint64_t rows(std::uint32_t epoch) const {
    return shm::rows_of(entries(), epoch, plan_rows_);
  }
  // Epochs, `from` first, that cover every transition of lengths that is known: for each epoch E
  // from `from` on, one of them has the lengths of E and E + 1 at itself and its successor.
  std::vector<std::uint32_t> border_epochs(std::uint32_t from) const;
  // The list for a state at this position: the changes within its epoch that were known when the
  // rows before it were planned.
  std::vector<shm::FactorEntry> of_state(const Position& position) const;
  // All known changes of `epoch` and later ones, for a daemon that has no history of them.
  std::vector<shm::FactorEntry> all_from(std::uint32_t epoch) const {
    return shm::factors_from(entries(), epoch, plan_factor_);
  }

 private:
  const std::vector<shm::FactorLogEntry>& entries() const { return log_.entries(); }

  ChangeLog<shm::FactorLog> log_;
  std::uint32_t plan_factor_ = 1000;
  std::uint64_t plan_rows_ = 0;
};

}  // namespace echoline::client
