#include "cuda/slot_table.h"

#include <algorithm>

namespace echoline::client::cuda {

DeviceSlot* SlotTable::free_slot() {
  const auto found = std::ranges::find_if(slots, &DeviceSlot::free);
  return found == slots.end() ? nullptr : &*found;
}

void SlotTable::fail(Error error) {
  if (failure.ok()) failure = std::move(error);
  wake_all();
}

void SlotTable::wake_all() {
  for_trainers.notify_all();
  for_copier.notify_all();
  for_finisher.notify_all();
}

}  // namespace echoline::client::cuda
