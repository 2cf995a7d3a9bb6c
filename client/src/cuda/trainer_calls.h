// What the trainer's threads do with a device loader: take uses of batches, give them back, begin
// epochs, save positions.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cuda/device_meter.h"
#include "cuda/device_resources.h"
#include "cuda/slot_table.h"

namespace echoline::client::cuda {

class DeviceLoader;

// One use of one batch, held by the trainer. `loader` keeps the buffer alive.
struct DeviceBatch {
  std::shared_ptr<DeviceLoader> loader;
  DeviceSlot* slot = nullptr;
  std::uint32_t use = 0;
  bool last_use = false;
  bool last_of_epoch = false;
  std::vector<std::uint32_t> uses;  // by rows

  std::uint32_t generation() const;  // of the process that it belongs to
};

// Any thread. Puts work on streams under SlotTable::mutex and never waits for a stream.
class TrainerCalls {
 public:
  // How long begin_epoch() waits for the copier, and next() for buffers that other threads hold.
  static constexpr std::chrono::seconds kPatience{10};

  // All outlive it.
  TrainerCalls(Loader& host, const DeviceResources& resources, DeviceMeter& meter, SlotTable& table)
      : host_(host), resources_(resources), meter_(meter), table_(table) {}

  // As echoline_cuda_next; sets all of the batch but its loader. Negative timeout: no limit.
  Error next(StreamHandle stream, std::int64_t timeout_ms, std::unique_ptr<DeviceBatch>& batch);
  // Makes another stream wait for the batch.
  Error make_wait(const DeviceBatch& batch, StreamHandle stream) const;
  // An error ends the loader: the next call returns it.
  void release(DeviceBatch& batch, StreamHandle stream);
  Error begin_epoch();
  Error state(State& state) const;

 private:
  // Refuses streams that cannot order the use of a batch, such as one under capture.
  Error check_stream(StreamHandle stream) const;
  // The rest with the mutex held.

  // Puts the use on the trainer's stream and takes it from the queue.
  Error give(const EchoQueue::Next& next, StreamHandle stream, DeviceBatch& batch);
  bool must_wait_for_release(const DeviceSlot& slot) const;
  // The error of a call that finds no use: LEASE_HELD or TIMEOUT.
  Error why_not_yet(const EchoQueue::Next& next);
  // No slot is left for the copier, and the trainer holds at least one.
  bool trainers_hold_all() const;

  Loader& host_;
  const DeviceResources& resources_;
  DeviceMeter& meter_;
  SlotTable& table_;
  std::optional<std::chrono::steady_clock::time_point> all_held_since_;  // under the mutex
};

}  // namespace echoline::client::cuda
