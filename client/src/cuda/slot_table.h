// What the copier, the finisher and the trainer's calls share, under one mutex.
#pragma once

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cuda/device_slot.h"
#include "cuda/echo_queue.h"

namespace echoline::client::cuda {

// Every member is guarded by `mutex`; the size of `slots` and their buffers never change after the
// loader is open.
//
// Lock order: SlotTable::mutex, then the host loader's lock (only begin_epoch takes both), then
// that of RingPages, then that of HostPages. The lock of DeviceMeter is taken last, under
// SlotTable::mutex or alone. No thread holds SlotTable::mutex while it sleeps in the driver; it may
// hold it while it puts work on a stream.
struct SlotTable {
  mutable std::mutex mutex;
  // Waited for by the trainer's calls: a batch, the end of a use, a copier that paused, the end of
  // a thread, a failure.
  std::condition_variable for_trainers;
  // By the copier: a free slot, the end of a copy, the begin or end of a pause, a failure.
  std::condition_variable for_copier;
  // By the finisher: a copy, a failure, the end of the copier.
  std::condition_variable for_finisher;

  std::vector<DeviceSlot> slots;
  std::optional<EchoQueue> queue;     // set before the first call
  std::list<InFlightCopy> in_flight;  // oldest first; only the finisher removes
  int pause_requests = 0;             // of CopierPause
  bool copier_paused = false;
  bool copier_runs = false;  // the thread will take another step
  bool finisher_runs = false;
  Error failure;  // the first one; the loader gives what it has, then this

  // With the mutex held.
  DeviceSlot* free_slot();
  void fail(Error error);
  void wake_all();
};

// Keeps the copier between two batches while it lives. Made and destroyed with the mutex held; the
// copier has paused once `copier_paused` is true.
class CopierPause {
 public:
  explicit CopierPause(SlotTable& table) : table_(table) {
    ++table_.pause_requests;
    table_.for_copier.notify_one();
  }
  ~CopierPause() {
    --table_.pause_requests;
    table_.for_copier.notify_one();
  }
  CopierPause(const CopierPause&) = delete;
  CopierPause& operator=(const CopierPause&) = delete;

 private:
  SlotTable& table_;
};

}  // namespace echoline::client::cuda
