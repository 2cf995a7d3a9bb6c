// The changes of a mixture's weights in a ring's log, as far as they matter from a position on.
#pragma once

#include <cstdint>
#include <vector>

#include "echoline/shm/weight_log.h"
#include "loader/change_log.h"
#include "state/position.h"

namespace echoline::client {

// One thread at a time. Weights change no length of an epoch, so only states contain them.
class WeightChanges {
 public:
  // Null: the weights never change.
  void follow(const shm::WeightLog* log) { log_.follow(log); }
  // As FactorChanges::update.
  bool update(std::uint32_t epoch);
  // The list for a state at this position: the changes within its epoch that were known when the
  // rows before it were planned.
  std::vector<shm::WeightEntry> of_state(const Position& position) const;
  // All known changes of `epoch` and later ones, for a daemon that has no history of them.
  std::vector<shm::WeightEntry> all_from(std::uint32_t epoch) const {
    return shm::weights_from(log_.entries(), epoch);
  }

 private:
  ChangeLog<shm::WeightLog> log_;
};

}  // namespace echoline::client
