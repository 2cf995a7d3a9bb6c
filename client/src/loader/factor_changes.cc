#include "loader/factor_changes.h"

#include <algorithm>
#include <iterator>

namespace echoline::client {
namespace {

bool is_valid(const shm::FactorLogEntry& entry) {
  // A factor below 1 and empty epochs cannot be right.
  return entry.factor >= 1000 && entry.rows > 0 && entry.rows_after > 0;
}

}  // namespace

void FactorChanges::follow(const shm::FactorLog* log, std::uint32_t plan_factor,
                           std::uint64_t plan_rows) {
  log_.follow(log);
  plan_factor_ = plan_factor;
  plan_rows_ = plan_rows;
}

bool FactorChanges::update(std::uint32_t epoch) { return log_.update(epoch, is_valid); }

std::vector<std::uint32_t> FactorChanges::border_epochs(std::uint32_t from) const {
  std::vector<std::uint32_t> epochs{from};
  for (const shm::FactorLogEntry& entry : entries()) {
    // The transitions into the epoch of the change, out of it, and between two epochs after it.
    if (entry.epoch > from) epochs.push_back(entry.epoch - 1);
    for (const std::uint32_t epoch : {entry.epoch, entry.epoch + 1}) {
      if (epoch > from) epochs.push_back(epoch);
    }
  }
  return epochs;
}

std::vector<shm::FactorEntry> FactorChanges::of_state(const Position& position) const {
  std::vector<shm::FactorLogEntry> known;
  std::copy_if(entries().begin(), entries().end(), std::back_inserter(known),
               [&](const shm::FactorLogEntry& entry) {
                 return shm::holds_at(entry, position.epoch, position.row);
               });
  return shm::factors_of(known, position.epoch, plan_factor_);
}

}  // namespace echoline::client
