// All parts of a device loader except its threads.
#pragma once

#include <chrono>
#include <memory>

#include "cuda/batch_copier.h"
#include "cuda/copy_finisher.h"
#include "cuda/trainer_calls.h"

namespace echoline::client::cuda {

// Tests drive the steps of `copier` and `finisher` without threads. It owns all device memory, the
// streams and the registration of the ring; batches that the trainer holds point into it.
struct CopyPipeline {
  // Whole, ready for the first step. `host` is attached and outlives it.
  static Error make(Loader& host, const Options& options, std::shared_ptr<const Device> device,
                    std::unique_ptr<CopyPipeline>& pipeline);

  // Nothing on the device reads or writes memory of the loader. Any thread.
  bool idle() const;
  // Whether it was idle before `end`.
  bool wait_idle(std::chrono::steady_clock::time_point end) const;
  // Gives up memory that the device may still use: it is never freed, as freeing any would wait for
  // the whole device. Last call before the destructor.
  void leave_to_driver();

  DeviceResources resources;
  DeviceMeter meter;
  SlotTable table;
  RingPages pages;
  BatchCopier copier;
  CopyFinisher finisher;
  TrainerCalls trainer;

 private:
  CopyPipeline(Loader& host, const Options& options, std::shared_ptr<const Device> device);
  Error make_parts(Loader& host);
};

}  // namespace echoline::client::cuda
