#include "cuda/trainer_calls.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cuda/driver.h"

namespace echoline::client::cuda {
namespace {

using Clock = std::chrono::steady_clock;

// How often a call that waits checks whether the trainer itself holds all buffers.
constexpr std::chrono::seconds kRecheck{1};
// Longer timeouts would overflow the clock.
constexpr std::int64_t kTimeoutMaxMs = 1'000'000'000'000;

bool taken_by_this_thread(const DeviceSlot& slot) {
  return slot.held > 0 && slot.last_taker == std::this_thread::get_id();
}

}  // namespace

Error TrainerCalls::check_stream(StreamHandle stream) const {
  if (stream == kStreamPerThread) {
    return {ECHOLINE_INVALID_ARGUMENT,
            "the default stream of each thread is another one in every thread that lets a batch "
            "go; name a stream of your own"};
  }
  const DriverTable& driver = resources_.device->driver();
  int status = kCaptureNone;
  const Code code = driver.stream_is_capturing(stream, &status);
  if (code == kSuccess && status != kCaptureNone) {
    return {ECHOLINE_INVALID_ARGUMENT,
            "the stream is being captured into a CUDA graph; take batches outside of the capture "
            "and copy them to the graph's input"};
  }
  return driver_error(driver, code, "the stream can't be used");
}

Error TrainerCalls::next(StreamHandle stream, std::int64_t timeout_ms,
                         std::unique_ptr<DeviceBatch>& batch) {
  const CurrentContext current(*resources_.device);
  if (Error e = check_stream(stream); !e.ok()) return e;
  // Allocated before a use is taken.
  auto made = std::make_unique<DeviceBatch>();
  const auto end = Clock::now() +
                   std::chrono::milliseconds(timeout_ms < 0 ? kTimeoutMaxMs
                                                            : std::min(timeout_ms, kTimeoutMaxMs));
  std::unique_lock lock(table_.mutex);
  for (;;) {
    const EchoQueue::Next next = table_.queue->peek();
    if (next.kind == EchoQueue::Kind::kEnd) {
      // Begins the next epoch.
      table_.queue->take(next);
      return {ECHOLINE_END_OF_EPOCH, "the epoch has ended"};
    }
    if (next.kind == EchoQueue::Kind::kBatch && !must_wait_for_release(*next.slot)) {
      Error e = give(next, stream, *made);
      if (e.ok()) batch = std::move(made);
      return e;
    }
    // After the batches: what was copied before the failure is still given.
    if (!table_.failure.ok()) return table_.failure;
    Error why = why_not_yet(next);
    const auto now = Clock::now();
    // LEASE_HELD at once: a longer wait would not help.
    if (why.code() == ECHOLINE_LEASE_HELD || now >= end) return why;
    table_.for_trainers.wait_until(lock, std::min(end, now + kRecheck));
  }
}

// The use is taken from the queue last: after an error the same use comes again.
Error TrainerCalls::give(const EchoQueue::Next& next, StreamHandle stream, DeviceBatch& batch) {
  DeviceSlot& slot = *next.slot;
  Buffer& buffer = *slot.buffer;
  if (Error e = buffer.prepare(next.use, resources_.streams, resources_.kernels.get()); !e.ok()) {
    return e;
  }
  if (const Code code = meter_.begin_wait(stream); code != kSuccess) {
    return driver_error(resources_.device->driver(), code,
                        "the stream can't be used; is it another device's?");
  }
  if (Error e = buffer.make_wait(stream); !e.ok()) return e;
  meter_.end_wait(stream);
  std::vector<std::uint32_t> uses = buffer.uses();  // may throw: before anything is taken
  table_.queue->take(next);
  slot.queued = !next.last_use;
  ++slot.held;
  slot.last_taker = std::this_thread::get_id();
  batch.slot = &slot;
  batch.use = next.use;
  batch.last_use = next.last_use;
  batch.last_of_epoch = next.last_of_epoch;
  batch.uses = std::move(uses);
  const auto factor = static_cast<std::uint32_t>(resources_.echo.factor());
  // Counts the uses of the stream and of the device together, as write_meta does.
  for (std::uint32_t& use : batch.uses) use = use * factor + next.use;
  meter_.count_use();
  return {};
}

// The next use mirrors other rows in the same memory: the one before must have been released.
bool TrainerCalls::must_wait_for_release(const DeviceSlot& slot) const {
  return resources_.layout.flips_any && slot.held > 0;
}

bool TrainerCalls::trainers_hold_all() const {
  const auto taken = [](const DeviceSlot& slot) { return slot.held > 0 || slot.queued; };
  const auto held = [](const DeviceSlot& slot) { return slot.held > 0; };
  return std::ranges::all_of(table_.slots, taken) && std::ranges::any_of(table_.slots, held);
}

// LEASE_HELD if only a release by the trainer can help, else TIMEOUT. A slot that another thread
// took may come back soon: that is LEASE_HELD only after kPatience.
Error TrainerCalls::why_not_yet(const EchoQueue::Next& next) {
  if (next.kind == EchoQueue::Kind::kBatch && taken_by_this_thread(*next.slot)) {
    return {ECHOLINE_LEASE_HELD,
            "the next use of this batch mirrors other rows: release the one before first, or raise "
            "the window of device echo"};
  }
  const auto now = Clock::now();
  const bool all_held = trainers_hold_all();
  if (!all_held) {
    all_held_since_.reset();
  } else if (!all_held_since_) {
    all_held_since_ = now;
  }
  if (all_held && (std::ranges::any_of(table_.slots, taken_by_this_thread) ||
                   now - *all_held_since_ > kPatience)) {
    all_held_since_.reset();
    return {ECHOLINE_LEASE_HELD,
            "the trainer itself holds the device buffers that the next batch needs: release "
            "batches, or raise the depth, " +
                std::to_string(resources_.options.depth) + " now"};
  }
  return {ECHOLINE_TIMEOUT, "no batch was ready in time"};
}

Error TrainerCalls::make_wait(const DeviceBatch& batch, StreamHandle stream) const {
  const CurrentContext current(*resources_.device);
  if (Error e = check_stream(stream); !e.ok()) return e;
  const std::lock_guard lock(table_.mutex);
  return batch.slot->buffer->make_wait(stream);
}

void TrainerCalls::release(DeviceBatch& batch, StreamHandle stream) {
  const CurrentContext current(*resources_.device);
  const std::lock_guard lock(table_.mutex);
  DeviceSlot& slot = *batch.slot;
  Error e = check_stream(stream);
  if (e.ok()) e = slot.buffer->mark_consumed(stream);
  // Early: the kernels of the next use can run before the trainer asks for it.
  if (e.ok() && !batch.last_use) {
    e = slot.buffer->prepare(batch.use + 1, resources_.streams, resources_.kernels.get());
  }
  --slot.held;
  // The slot may be free now.
  table_.for_copier.notify_one();
  table_.for_trainers.notify_all();
  // Nobody knows when the stream has passed the batch: its buffer must not be filled again.
  if (!e.ok()) table_.fail(std::move(e));
}

// The copier pauses, so that the batch that it takes next is of the new epoch. No stream is waited
// for: copies of the old epoch may be in flight for as long as the trainer's stream is behind. They
// keep their slots until they end; nobody uses their bytes.
Error TrainerCalls::begin_epoch() {
  std::unique_lock lock(table_.mutex);
  // No use of the epoch was taken, so the trainer is at its begin.
  if (!table_.queue->begun()) return {};
  const CopierPause pause(table_);
  const bool paused = table_.for_trainers.wait_for(
      lock, kPatience, [&] { return table_.copier_paused || !table_.failure.ok(); });
  if (!table_.failure.ok()) return table_.failure;
  if (!paused) {
    return {ECHOLINE_DEADLINE_EXCEEDED,
            "the thread that puts copies on the GPU did not come back from the driver within 10 s"};
  }
  if (!table_.queue->begun()) return {};  // another call began the epoch for all
  // If the copies are in the next epoch already, the host loader has begun it.
  State position;
  if (!table_.queue->copies_are_ahead()) {
    // The copier has paused, so nobody else uses the host loader.
    if (Error e = host_.begin_epoch(); !e.ok()) return e;
    if (Error e = host_.state(position); !e.ok()) return e;
  }
  for (DeviceSlot* slot : table_.queue->drop_epoch(std::move(position))) slot->queued = false;
  return {};
}

Error TrainerCalls::state(State& state) const {
  const std::lock_guard lock(table_.mutex);
  EchoQueue::ResumePoint point = table_.queue->resume_point();
  state = std::move(point.position);
  state.device.reset();
  // Without echo, the position in the ring is enough.
  if (resources_.echo.factor() > 1) {
    const Options& options = resources_.options;
    state.device = DeviceEchoPosition{options.echo_factor, options.echo_window, point.step};
  }
  return {};
}

}  // namespace echoline::client::cuda
