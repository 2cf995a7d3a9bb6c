#include "engine/walk/slot_pool.h"

namespace echoline::engine {

SlotPool::SlotPool(std::uint32_t slot_count, std::uint32_t batch_rows, bool repeats)
    : slot_count_(slot_count), batch_rows_(batch_rows) {
  if (!repeats) return;
  // In descending order, because of_batch takes from the back: slot 0 is used first.
  for (std::uint32_t slot = slot_count; slot > 0; --slot) free_.push_back(slot - 1);
}

SlotPool::Slot SlotPool::circular(std::uint64_t sequence) const {
  // No list is needed: a slot's only descriptor is released before its sequence comes round again.
  return {static_cast<std::uint32_t>(sequence % slot_count_), sequence * batch_rows_};
}

std::optional<SlotPool::Slot> SlotPool::of_batch(std::uint32_t epoch, std::uint64_t batch,
                                                 std::uint64_t sequence, bool last_use,
                                                 std::uint64_t released) {
  // Unique: an epoch has less than 2^40 batches.
  const std::uint64_t key = batch ^ static_cast<std::uint64_t>(epoch) << 40;
  // A use after the first: the batch is in its slot already.
  const auto kept = kept_.find(key);
  if (kept != kept_.end()) {
    const std::uint32_t slot = kept->second;
    // The slot is free when all readers have released this descriptor; until then it is retired.
    if (last_use) {
      kept_.erase(kept);
      retired_.push_back({slot, sequence});
    }
    return at(slot);
  }
  // Only when a slot is needed: released descriptors cost nothing before.
  reclaim(released);
  if (free_.empty()) return std::nullopt;
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  if (last_use) {
    retired_.push_back({slot, sequence});
  } else {
    kept_.emplace(key, slot);
  }
  return at(slot);
}

void SlotPool::reclaim(std::uint64_t released) {
  std::erase_if(retired_, [&](const Retired& retired) {
    // `released` counts descriptors: all with a smaller sequence are free.
    if (retired.last_sequence >= released) return false;
    free_.push_back(retired.slot);
    return true;
  });
}

}  // namespace echoline::engine
