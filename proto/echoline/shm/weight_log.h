// Reads a log of changes of a mixture's weights, as factor_log.h does for those of the echo factor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "echoline/shm/door.h"
#include "echoline/shm/ring_layout.h"

namespace echoline::shm {

// The changes of `epoch`, in ascending order of rows, followed by those of later epochs. If the
// weights were changed before `epoch`, the first entry has those that it begins with, at row 0. Two
// changes at one row are one. `entries`: oldest first.
inline std::vector<WeightEntry> weights_from(std::span<const WeightLogEntry> entries,
                                             std::uint32_t epoch) {
  std::vector<WeightEntry> list;
  for (const WeightLogEntry& entry : entries) {
    WeightEntry change{};
    change.row = entry.epoch < epoch ? 0 : entry.row;
    change.ahead = entry.epoch < epoch ? 0 : entry.epoch - epoch;
    change.source_count = entry.source_count;
    std::copy(std::begin(entry.weights), std::end(entry.weights), change.weights);
    const bool replaces =
        !list.empty() && list.back().ahead == change.ahead && list.back().row == change.row;
    if (replaces) list.pop_back();
    list.push_back(change);
  }
  return list;
}

}  // namespace echoline::shm
