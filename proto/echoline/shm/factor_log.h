// Reads a log of factor changes. Daemon and client use these functions, so that the list in a state
// has the same meaning on both sides.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "echoline/shm/door.h"
#include "echoline/shm/ring_layout.h"

namespace echoline::shm {

// Whether the state at position (epoch, row) contains this entry, of the factor or of weights.
template <typename Entry>
bool holds_at(const Entry& entry, std::uint32_t epoch, std::uint64_t row) {
  return std::tie(entry.since_epoch, entry.since_row) <= std::tie(epoch, row);
}

// The changes within `epoch`, in ascending order. If the epoch does not begin with `plan_factor`,
// the first entry is its initial factor, at block 0. `entries`: oldest first.
inline std::vector<FactorEntry> factors_of(std::span<const FactorLogEntry> entries,
                                           std::uint32_t epoch, std::uint32_t plan_factor) {
  std::vector<FactorEntry> list{{0, plan_factor, 0}};
  for (const FactorLogEntry& entry : entries) {
    if (entry.epoch > epoch) break;
    const std::uint64_t block = entry.epoch < epoch ? 0 : entry.block;
    if (list.back().block == block) {
      list.back().factor = entry.factor;
    } else {
      list.push_back({block, entry.factor, 0});
    }
  }
  if (list.front().factor == plan_factor) list.erase(list.begin());
  return list;
}

// factors_of, followed by the changes within later epochs.
inline std::vector<FactorEntry> factors_from(std::span<const FactorLogEntry> entries,
                                             std::uint32_t epoch, std::uint32_t plan_factor) {
  std::vector<FactorEntry> list = factors_of(entries, epoch, plan_factor);
  for (const FactorLogEntry& entry : entries) {
    if (entry.epoch <= epoch) continue;
    const FactorEntry later{entry.block, entry.factor, entry.epoch - epoch};
    // Two changes at the same block: the later one replaces the earlier one.
    if (!list.empty() && list.back().ahead == later.ahead && list.back().block == later.block) {
      list.pop_back();
    }
    list.push_back(later);
  }
  return list;
}

// The number of rows of `epoch`, unless later entries change it.
inline std::uint64_t rows_of(std::span<const FactorLogEntry> entries, std::uint32_t epoch,
                             std::uint64_t plan_rows) {
  std::uint64_t rows = plan_rows;
  for (const FactorLogEntry& entry : entries) {
    if (entry.epoch > epoch) break;
    rows = entry.epoch == epoch ? entry.rows : entry.rows_after;
  }
  return rows;
}

}  // namespace echoline::shm
