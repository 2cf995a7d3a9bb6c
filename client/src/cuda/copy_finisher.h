// The second of a device loader's two threads: gives slots of the ring back when copies have ended.
#pragma once

#include "cuda/agent.h"
#include "cuda/device_meter.h"
#include "cuda/device_resources.h"
#include "cuda/slot_table.h"

namespace echoline::client::cuda {

// The only one that removes copies from the list, always the oldest. Invariant: the batch of a copy
// is released only after the device has passed the copy's end.
class CopyFinisher : public Agent {
 public:
  // All outlive it.
  CopyFinisher(const DeviceResources& resources, DeviceMeter& meter, SlotTable& table)
      : resources_(resources), meter_(meter), table_(table) {}

  // Ends the oldest copy if the device has passed it. Does not wait, except after an error of the
  // driver: then for the copy stream.
  bool do_work() override;
  // Sleeps until there is a copy, then in the driver until the oldest one has ended; the driver
  // knows no limit for that. Ends when the loader has failed, the copier has ended and no copy is
  // left.
  bool wait_for_work() override;

 private:
  InFlightCopy* oldest() const;  // null: none
  Error look(const InFlightCopy& copy, bool& ended, float& milliseconds);
  void finish(InFlightCopy& copy, float milliseconds);

  const DeviceResources& resources_;
  DeviceMeter& meter_;
  SlotTable& table_;
  Error wait_error_;  // of wait_for_work(), about the oldest copy
};

}  // namespace echoline::client::cuda
