// A device buffer with its current owners, and a copy into one that has not ended yet.
#pragma once

#include <cstdint>
#include <memory>
#include <thread>

#include "cuda/buffer.h"
#include "cuda/host_pages.h"
#include "mapped_ring/batch.h"

namespace echoline::client::cuda {

// The flags are guarded by SlotTable::mutex. The buffer is the copier's while `loading`, else it is
// guarded by that mutex too.
struct DeviceSlot {
  std::unique_ptr<Buffer> buffer;  // constant once the loader is open
  bool loading = false;            // the copier fills it
  bool copying = false;            // the device still reads the batch of the ring
  bool queued = false;             // the echo queue has uses of it that no trainer got yet
  std::uint32_t held = 0;          // uses that the trainer holds
  std::thread::id last_taker;      // the thread that took the last one of them
  bool free() const { return !loading && !copying && !queued && held == 0; }
};

// Invariant: `batch` holds its slots of the ring until the device has read them.
struct InFlightCopy {
  DeviceSlot* slot;
  std::unique_ptr<Batch> batch;
  std::shared_ptr<HostPages> pages;
  bool direct;  // the device reads the ring itself: counted by HostPages::begin_copy()
};

}  // namespace echoline::client::cuda
