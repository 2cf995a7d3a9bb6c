#include "cuda/batch_copier.h"

#include <new>

#include "cuda/no_memory.h"

namespace echoline::client::cuda {

bool BatchCopier::do_work() {
  DeviceSlot* const slot = claim_slot();
  if (slot == nullptr) return false;
  try {
    return take_batch(*slot);
  } catch (const std::bad_alloc&) {
    // The slot may stay claimed: the loader has failed and takes no more batches.
    const std::lock_guard lock(table_.mutex);
    table_.fail(no_memory());
    return true;
  }
}

bool BatchCopier::wait_for_work() {
  std::unique_lock lock(table_.mutex);
  table_.for_copier.wait(lock, [&] {
    const bool pause = table_.pause_requests > 0;
    return !table_.failure.ok() || pause != table_.copier_paused ||
           (!pause && table_.free_slot() != nullptr);
  });
  if (table_.failure.ok()) return true;
  // The loader has failed: the thread takes no further step.
  table_.copier_runs = false;
  table_.wake_all();
  return false;
}

DeviceSlot* BatchCopier::claim_slot() {
  const std::lock_guard lock(table_.mutex);
  if (!table_.failure.ok()) return nullptr;
  // A pause begins and ends only here, between two batches: while it lasts this thread uses neither
  // the host loader nor a slot.
  table_.copier_paused = table_.pause_requests > 0;
  if (table_.copier_paused) {
    table_.for_trainers.notify_all();
    return nullptr;
  }
  DeviceSlot* const slot = table_.free_slot();
  if (slot != nullptr) slot->loading = true;
  return slot;
}

bool BatchCopier::has_copies_in_flight() const {
  const std::lock_guard lock(table_.mutex);
  return !table_.in_flight.empty();
}

bool BatchCopier::take_batch(DeviceSlot& slot) {
  std::unique_ptr<Batch> batch;
  State after;
  // Asked before: if copies end during the wait, LEASE_HELD may still be about their slots.
  const bool copies_hold_slots = has_copies_in_flight();
  Error e = host_.next(kRingWait.count(), batch);
  if (e.ok() || e.code() == ECHOLINE_END_OF_EPOCH) {
    // The position behind the batch goes into the echo queue with it.
    if (Error state = host_.state(after); !state.ok()) e = state;
  }
  if (e.ok()) {
    load(slot, std::move(batch), std::move(after));
    return true;
  }
  std::unique_lock lock(table_.mutex);
  // No batch came: the slot is free again.
  slot.loading = false;
  if (e.code() == ECHOLINE_TIMEOUT) return false;
  if (e.code() == ECHOLINE_LEASE_HELD && copies_hold_slots) {
    // No error: a copy that ends gives slots of the ring back.
    if (!table_.in_flight.empty()) table_.for_copier.wait_for(lock, kRingWait);
    return false;
  }
  if (e.code() == ECHOLINE_END_OF_EPOCH) {
    table_.queue->end_epoch(std::move(after));
    table_.for_trainers.notify_all();
  } else {
    table_.fail(std::move(e));
  }
  return true;
}

void BatchCopier::load(DeviceSlot& slot, std::unique_ptr<Batch> batch, State after) {
  std::shared_ptr<HostPages> pages;
  Error e = pages_.of_batch(*batch, meter_.figures(), pages);
  const bool last = batch->info().last;
  // The list entry is allocated before the device reads the batch: without memory for it, the batch
  // would give its slots back while the device reads them.
  std::list<InFlightCopy> made;
  made.push_back({&slot, std::move(batch), std::move(pages), false});
  InFlightCopy& copy = made.front();
  if (e.ok()) {
    copy.direct = copy.pages->begin_copy();
    e = slot.buffer->load(*copy.batch, *copy.pages, copy.direct, resources_.streams,
                          resources_.kernels.get(), resources_.options.echo_factor,
                          resources_.seed);
    if (!e.ok() && copy.direct) copy.pages->end_copy();
  }
  const std::lock_guard lock(table_.mutex);
  slot.loading = false;
  // Buffer::load has waited for the streams, so `made` may release the batch.
  if (!e.ok()) return table_.fail(std::move(e));
  slot.copying = slot.queued = true;
  table_.in_flight.splice(table_.in_flight.end(), made);
  // May find no memory: the copy is the finisher's by then, which ends it in any case.
  table_.queue->add(slot, std::move(after), last);
  table_.for_trainers.notify_all();
  table_.for_finisher.notify_one();
}

}  // namespace echoline::client::cuda
