// The changes of the echo factor that a ring tells of, as far as they matter from a position on.
#pragma once

#include <cstdint>
#include <vector>

#include "attach_request.h"
#include "echoline/shm/factor_log.h"

namespace echoline::client {

// One thread at a time.
class FactorChanges {
 public:
  // From here on those of this log, read anew; null: there are none. It outlives the last update.
  // `plan_factor` and `plan_rows` are those of epochs before any change.
  void follow(const shm::FactorLog* log, std::uint32_t plan_factor, std::uint64_t plan_rows);
  // Takes over what the log has of `epoch` and of later ones, and how that epoch begins. Costs one
  // look at a word while nothing is new. False where the log cannot be right.
  bool update(std::uint32_t epoch);

  // Whether there was any, so that epochs differ in length.
  bool any() const { return !entries_.empty(); }
  // Epochs after this one are all alike, as far as is known.
  std::uint32_t last_epoch() const { return entries_.empty() ? 0 : entries_.back().epoch; }
  std::uint64_t rows(std::uint32_t epoch) const {
    return shm::rows_of(entries_, epoch, plan_rows_);
  }
  // `from` and such later epochs that each pair of lengths that follow each other, as far as is
  // known, is that of one of them and its next.
  std::vector<std::uint32_t> border_epochs(std::uint32_t from) const;
  // What a state at this position holds: of its epoch, what was known when the rows before it were
  // planned.
  std::vector<shm::FactorEntry> of_state(const Position& position) const;
  // All that is known of its epoch and of later ones, for a daemon that knows none of it.
  std::vector<shm::FactorEntry> all_from(std::uint32_t epoch) const {
    return shm::factors_from(entries_, epoch, plan_factor_);
  }

 private:
  const shm::FactorLog* log_ = nullptr;
  std::uint32_t plan_factor_ = 1000;
  std::uint64_t plan_rows_ = 0;
  std::uint64_t taken_ = 0;  // entries of the log
  std::vector<shm::FactorLogEntry> entries_;
};

}  // namespace echoline::client
