// A loader whose batches stand on a GPU: copied as soon as they are published, given in the order
// of the device's echo.
#pragma once

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "cuda/buffer.h"
#include "cuda/echo_queue.h"
#include "cuda/options.h"
#include "cuda/wait_meter.h"
#include "loader/loader.h"

namespace echoline::client::cuda {

// A buffer and who has it. Free when nobody does.
struct Slot {
  std::unique_ptr<Buffer> buffer;
  bool loading = false;    // the copy thread fills it
  bool copying = false;    // the device does, and reads a batch of the ring
  bool queued = false;     // uses are to come
  std::uint32_t held = 0;  // uses that the trainer has
  std::thread::id taker;   // of the last one
  bool free() const { return !loading && !copying && !queued && held == 0; }
};

class DeviceLoader;

// One use of one batch, in the trainer's hands.
struct DeviceBatch {
  std::shared_ptr<DeviceLoader> loader;
  Slot* slot = nullptr;
  std::uint32_t use = 0;
  bool last_use = false;
  bool last_of_epoch = false;
  std::vector<std::uint32_t> uses;  // by rows
};

// Two threads of its own: one takes batches from the ring and puts their copies on a stream, one
// waits for copies to end and gives the slots back. Any thread may call. The lock is never held
// while sleeping in the driver; it may be held while work is put on a stream.
class DeviceLoader : public std::enable_shared_from_this<DeviceLoader> {
 public:
  ~DeviceLoader();
  // `inner` outlives close().
  static Error open(Loader& inner, const Options& options, std::shared_ptr<DeviceLoader>& loader);
  // What hangs in the driver after kPatience is left to it.
  void close();

  Error next(StreamHandle stream, std::int64_t timeout_ms, std::unique_ptr<DeviceBatch>& batch);
  Error let_wait(const DeviceBatch& batch, StreamHandle stream) const;
  void release(DeviceBatch& batch, StreamHandle stream);
  Error begin_epoch();
  Error state(State& state);
  void stats(echoline_cuda_stats& stats);

  const BatchLayout& layout() const { return layout_; }
  const Device& device() const { return *device_; }
  std::uint32_t generation() const { return generation_; }

  static constexpr std::chrono::seconds kPatience{10};
  static constexpr std::chrono::seconds kLeavePatience{5};
  static constexpr std::chrono::seconds kLook{1};  // how often a wait looks around
  // Nothing on the device is under way that the loader has part in.
  bool idle() const;

 private:
  // A batch of the ring that the device reads.
  struct Copy {
    Slot* slot;
    std::unique_ptr<Batch> batch;
    std::shared_ptr<HostPages> pages;
    bool direct;
  };

  class Parking;

  DeviceLoader(Loader& inner, const Options& options, std::shared_ptr<const Device> device);
  bool await_idle(std::chrono::steady_clock::time_point end) const;
  Error prepare();
  Error start();
  void begin_thread();
  void end_thread();
  Error give(const EchoQueue::Next& next, StreamHandle stream, DeviceBatch& batch);
  Error check_stream(StreamHandle stream) const;
  bool is_in_use(const Slot& slot) const;
  Error nothing_yet(const EchoQueue::Next& next);
  void fail(Error error);  // with the lock held, as wake_all
  void wake_all();

  void copy_loop();
  Slot* await_slot();
  bool copies_are_under_way();
  void try_batch(Slot& slot);
  void take_batch(Slot& slot);
  void load(Slot& slot, std::unique_ptr<Batch> batch, State after);
  Error pages_for(const Batch& batch, std::shared_ptr<HostPages>& pages);
  void release_loop();
  Error end_copy(Copy& copy);
  shm::DeviceFigures figures() const;
  bool leave_ring(const std::shared_ptr<Attachment>& left);

  Loader* const inner_;
  const std::uint32_t generation_;
  const Options options_;
  const DeviceEcho echo_;
  const std::shared_ptr<const Device> device_;
  BatchLayout layout_;
  Streams streams_;
  std::unique_ptr<Kernels> kernels_;
  std::uint64_t seed_ = 0;

  mutable std::mutex mutex_;
  // For trainers: a batch, an end, a use that is over, the copy thread parked. For the copy thread:
  // a free slot, an end of a copy, parking. For the release thread: a copy.
  std::condition_variable for_trainers_;
  std::condition_variable for_copier_;
  std::condition_variable for_releaser_;
  std::vector<Slot> slots_;
  std::unique_ptr<EchoQueue> queue_;
  std::list<Copy> copies_;  // whose end is awaited, oldest first
  int parks_ = 0;           // of Parking
  bool parked_ = false;
  int threads_ = 0;  // that run
  Error final_;
  WaitMeter waits_;
  echoline_cuda_stats counts_{};

  std::optional<std::chrono::steady_clock::time_point> stuck_since_;  // trainers hold all
  std::optional<std::chrono::steady_clock::time_point> patience_ends_;

  std::mutex pages_mutex_;            // never with mutex_
  std::shared_ptr<HostPages> pages_;  // of the newest attachment; none once closed
  std::shared_ptr<Attachment> left_;  // whose memory is, or is about to be, the daemon's again
  std::thread copier_;
  std::thread releaser_;
};

}  // namespace echoline::client::cuda
