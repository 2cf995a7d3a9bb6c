#include "loader/weight_changes.h"

#include <algorithm>
#include <iterator>

#include "echoline/shm/factor_log.h"

namespace echoline::client {

bool WeightChanges::update(std::uint32_t epoch) {
  return log_.update(epoch, [](const shm::WeightLogEntry& entry) {
    return entry.source_count > 0 && entry.source_count <= shm::kMixSourcesMax;
  });
}

std::vector<shm::WeightEntry> WeightChanges::of_state(const Position& position) const {
  std::vector<shm::WeightLogEntry> known;
  const auto is_known = [&](const shm::WeightLogEntry& entry) {
    return entry.epoch <= position.epoch && shm::holds_at(entry, position.epoch, position.row);
  };
  std::copy_if(log_.entries().begin(), log_.entries().end(), std::back_inserter(known), is_known);
  return shm::weights_from(known, position.epoch);
}

}  // namespace echoline::client
