#include "cuda/device_loader.h"

#include <exception>
#include <string>

namespace echoline::client::cuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kDepthMin = 2, kDepthMax = 64;
constexpr std::uint32_t kEchoMax = 1024;
// A destructor this soon after close() does not wait for the device a second time.
constexpr std::chrono::seconds kSameClose{1};

Error refused(const char* what) { return {ECHOLINE_INVALID_ARGUMENT, what}; }

Error check(const Options& options) {
  if (options.depth < kDepthMin || options.depth > kDepthMax) {
    return refused("depth must be 2 to 64 batches");
  }
  if (options.echo_factor < 1 || options.echo_factor > kEchoMax || options.echo_window < 1 ||
      options.echo_window > kEchoMax) {
    return refused("the factor and the window of device echo must be 1 to 1024");
  }
  return {};
}

// A state names a step in the order of its echo: another echo has other uses there. And the batch
// at the state's position must still have uses to give.
Error check_resumed(const std::optional<DeviceEchoPosition>& resumed, const Options& options) {
  if (!resumed) return {};
  if (resumed->factor != options.echo_factor || resumed->window != options.echo_window) {
    return {ECHOLINE_FAILED_PRECONDITION, "the state was taken under device echo of factor " +
                                              std::to_string(resumed->factor) + " and window " +
                                              std::to_string(resumed->window) +
                                              "; open the device with the same"};
  }
  const std::uint64_t last = DeviceEcho(resumed->factor, resumed->window).last_step(0);
  if (resumed->step <= last) return {};
  return {ECHOLINE_INVALID_ARGUMENT, "the state names step " + std::to_string(resumed->step) +
                                         " of its device echo, whose last one is " +
                                         std::to_string(last)};
}

}  // namespace

std::uint32_t DeviceBatch::generation() const { return loader->generation(); }

DeviceLoader::DeviceLoader(Loader& host, std::unique_ptr<CopyPipeline> pipeline)
    : host_(host), generation_(fork_generation()), pipeline_(std::move(pipeline)) {}

Error DeviceLoader::open(Loader& host, const Options& options,
                         std::shared_ptr<DeviceLoader>& loader) {
  // First the checks that need no GPU.
  if (Error e = check(options); !e.ok()) return e;
  if (Error e = check_resumed(host.device_echo_position(), options); !e.ok()) return e;
  std::shared_ptr<const Device> device;
  if (Error e = Device::open(options.device, device); !e.ok()) return e;
  std::unique_ptr<CopyPipeline> pipeline;
  if (Error e = CopyPipeline::make(host, options, std::move(device), pipeline); !e.ok()) return e;
  // Shared before start(), because each thread gets a reference.
  const std::shared_ptr<DeviceLoader> made(new DeviceLoader(host, std::move(pipeline)));
  if (Error e = made->start(); !e.ok()) return e;
  loader = made;
  return {};
}

// The finisher first: it must run for as long as the copier does.
Error DeviceLoader::start() {
  // The host loader keeps only a weak reference: this loader may be gone when it leaves a ring.
  const auto settle = [self = weak_from_this()](const std::shared_ptr<Attachment>& left) {
    const auto loader = self.lock();
    // If the loader is gone, its threads have ended, and the finisher ends only after the last
    // copy.
    return loader == nullptr || loader->pipeline_->pages.leave(left);
  };
  if (Error e = host_.set_drain_hook(settle); !e.ok()) return e;
  SlotTable& table = pipeline_->table;
  Error e = start_agent("echoline-free", pipeline_->finisher, table.finisher_runs, finisher_);
  if (e.ok()) e = start_agent("echoline-copy", pipeline_->copier, table.copier_runs, copier_);
  if (!e.ok()) close();
  return e;
}

Error DeviceLoader::start_agent(const char* name, Agent& agent, bool& runs, std::thread& thread) {
  SlotTable& table = pipeline_->table;
  const auto set_runs = [&](bool value) {
    const std::lock_guard lock(table.mutex);
    runs = value;
    table.wake_all();
  };
  set_runs(true);  // before the thread begins: it may end at once
  try {
    thread = start_thread(name, agent, pipeline_->resources.device, shared_from_this());
    return {};
  } catch (const std::exception& e) {
    set_runs(false);
    return {ECHOLINE_RESOURCE_EXHAUSTED, std::string("can't start a thread: ") + e.what()};
  }
}

bool DeviceLoader::end_threads(Clock::time_point end) {
  SlotTable& table = pipeline_->table;
  std::unique_lock lock(table.mutex);
  // Ends both threads; calls that wait in next() return this error.
  table.fail({ECHOLINE_CANCELLED, "the loader was closed"});
  const bool ended = table.for_trainers.wait_until(
      lock, end, [&] { return !table.copier_runs && !table.finisher_runs; });
  lock.unlock();
  for (std::thread* thread : {&copier_, &finisher_}) {
    if (!thread->joinable()) continue;
    // A detached thread holds a reference to this loader until it ends.
    ended ? thread->join() : thread->detach();
  }
  return ended;
}

void DeviceLoader::close() {
  const auto end = Clock::now() + kDriverTimeout;
  // If a thread hangs, copies may still read the ring: the host loader then still calls leave()
  // before it gives its slots back, and keeps them if copies have not ended.
  if (!end_threads(end)) return;
  (void)host_.set_drain_hook(nullptr);
  // A batch that the trainer keeps must keep nothing of the ring; but unregistering memory may wait
  // for the whole device, so only when it is idle.
  close_deadline_ = end;
  if (pipeline_->wait_idle(end)) pipeline_->pages.close();
}

DeviceLoader::~DeviceLoader() {
  const auto now = Clock::now();
  const auto end = close_deadline_ && now < *close_deadline_ + kSameClose ? *close_deadline_
                                                                          : now + kDriverTimeout;
  // Kernels are unloaded with their context current.
  const CurrentContext current(*pipeline_->resources.device);
  if (pipeline_->wait_idle(end)) {
    pipeline_->resources.kernels.reset();
  } else {
    pipeline_->leave_to_driver();
  }
}

Error DeviceLoader::next(StreamHandle stream, std::int64_t timeout_ms,
                         std::unique_ptr<DeviceBatch>& batch) {
  Error e = pipeline_->trainer.next(stream, timeout_ms, batch);
  if (e.ok()) batch->loader = shared_from_this();
  return e;
}

void DeviceLoader::stats(echoline_cuda_stats& stats) {
  const std::shared_ptr<HostPages> pages = pipeline_->pages.current();
  const CurrentContext current(device());
  pipeline_->meter.fill(stats);
  stats.path = pages->path();
  stats.device_bytes = pipeline_->table.slots.size() * layout().bytes;
  for (const DeviceSlot& slot : pipeline_->table.slots) {
    stats.pinned_bytes += slot.buffer->pinned_bytes();
  }
}

}  // namespace echoline::client::cuda
