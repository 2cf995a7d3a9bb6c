// A loader whose batches are in GPU memory: copied as soon as they are published, given in the
// order of the device's echo.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "cuda/copy_pipeline.h"

namespace echoline::client::cuda {

// Owns the pipeline and its two threads: the copier puts copies of the ring's batches on a stream,
// the finisher gives slots of the ring back when copies have ended. Any thread may call. Lock
// order: slot_table.h.
class DeviceLoader : public std::enable_shared_from_this<DeviceLoader> {
 public:
  // Waits until the device is idle, then frees its memory. If it is not idle in time, the memory is
  // left to the driver.
  ~DeviceLoader();
  // `host` outlives close().
  static Error open(Loader& host, const Options& options, std::shared_ptr<DeviceLoader>& loader);
  // Ends the threads. Threads and copies that hang in the driver for kDriverTimeout are left
  // behind; the host loader then keeps the slots that those copies read.
  void close();

  Error next(StreamHandle stream, std::int64_t timeout_ms, std::unique_ptr<DeviceBatch>& batch);
  Error make_wait(const DeviceBatch& batch, StreamHandle stream) const {
    return pipeline_->trainer.make_wait(batch, stream);
  }
  void release(DeviceBatch& batch, StreamHandle stream) {
    pipeline_->trainer.release(batch, stream);
  }
  Error begin_epoch() { return pipeline_->trainer.begin_epoch(); }
  Error state(State& state) { return pipeline_->trainer.state(state); }
  void stats(echoline_cuda_stats& stats);
  // Nothing on the device reads or writes memory of the loader.
  bool idle() const { return pipeline_->idle(); }

  const BatchLayout& layout() const { return pipeline_->resources.layout; }
  const Device& device() const { return *pipeline_->resources.device; }
  std::uint32_t generation() const { return generation_; }

  static constexpr std::chrono::seconds kDriverTimeout{10};

 private:
  DeviceLoader(Loader& host, std::unique_ptr<CopyPipeline> pipeline);
  // Sets the host loader's drain hook and starts both threads; after an error neither runs.
  Error start();
  // Starts one thread; `runs` is its flag in the slot table.
  Error start_agent(const char* name, Agent& agent, bool& runs, std::thread& thread);
  // Ends both threads. False if one hangs in the driver at `end`: it is detached.
  bool end_threads(std::chrono::steady_clock::time_point end);

  Loader& host_;
  const std::uint32_t generation_;  // of the process; differs after fork()
  const std::unique_ptr<CopyPipeline> pipeline_;
  std::thread copier_;
  std::thread finisher_;
  std::optional<std::chrono::steady_clock::time_point> close_deadline_;  // once close() has waited
};

}  // namespace echoline::client::cuda
