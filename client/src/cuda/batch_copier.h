// The first of a device loader's two threads: puts copies of the ring's batches on a stream.
#pragma once

#include "cuda/agent.h"
#include "cuda/device_meter.h"
#include "cuda/device_resources.h"
#include "cuda/ring_pages.h"
#include "cuda/slot_table.h"

namespace echoline::client::cuda {

// Owns a slot while it is `loading`; then the slot's copy is in flight, which the finisher ends. No
// lock is held while it waits for a batch.
class BatchCopier : public Agent {
 public:
  // All outlive it. `host` gives the batches of the ring.
  BatchCopier(Loader& host, const DeviceResources& resources, DeviceMeter& meter, RingPages& pages,
              SlotTable& table)
      : host_(host), resources_(resources), meter_(meter), pages_(pages), table_(table) {}

  // Takes a free slot and one batch for it. Waits at most kRingWait for the batch and, if the
  // ring's slots are all in use by copies, as long again for one of those to end. True for a
  // batch, the end of an epoch, or an error that ended the loader.
  bool do_work() override;
  // Sleeps while there is no free slot or the copier is paused. Ends when the loader has failed.
  bool wait_for_work() override;

  static constexpr std::chrono::milliseconds kRingWait{50};

 private:
  DeviceSlot* claim_slot();  // null: none is free, or a pause, or a failure
  bool has_copies_in_flight() const;
  bool take_batch(DeviceSlot& slot);
  void load(DeviceSlot& slot, std::unique_ptr<Batch> batch, State after);

  Loader& host_;
  const DeviceResources& resources_;
  DeviceMeter& meter_;
  RingPages& pages_;
  SlotTable& table_;
};

}  // namespace echoline::client::cuda
