#include "cuda/device_loader.h"

#include <algorithm>
#include <exception>

#include "cuda/driver.h"
#include "cuda/no_signals.h"

namespace echoline::client::cuda {
namespace {

constexpr std::uint32_t kDepthMin = 2, kDepthMax = 64;
constexpr std::uint32_t kEchoMax = 1024;

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

// A state that was taken under another echo names uses that this one doesn't give; and the batch at
// its position must still be wanted.
Error check_resumed(const std::optional<DeviceEchoPosition>& place, const Options& options) {
  if (!place) return {};
  if (place->factor != options.echo_factor || place->window != options.echo_window) {
    return {ECHOLINE_FAILED_PRECONDITION,
            "the state was taken under device echo of factor " + std::to_string(place->factor) +
                " and window " + std::to_string(place->window) + "; open the device with the same"};
  }
  const std::uint64_t last = DeviceEcho(place->factor, place->window).last_step(0);
  if (place->step <= last) return {};
  return {ECHOLINE_INVALID_ARGUMENT, "the state names step " + std::to_string(place->step) +
                                         " of its device echo, whose last one is " +
                                         std::to_string(last)};
}

}  // namespace

DeviceLoader::DeviceLoader(Loader& inner, const Options& options,
                           std::shared_ptr<const Device> device)
    : inner_(&inner),
      generation_(fork_generation()),
      options_(options),
      echo_(options.echo_factor, options.echo_window),
      device_(std::move(device)) {}

Error DeviceLoader::open(Loader& inner, const Options& options,
                         std::shared_ptr<DeviceLoader>& loader) {
  if (Error e = check(options); !e.ok()) return e;
  if (Error e = check_resumed(inner.device_echo_position(), options); !e.ok()) return e;
  std::shared_ptr<const Device> device;
  if (Error e = Device::open(options.device, device); !e.ok()) return e;
  const std::shared_ptr<DeviceLoader> made(new DeviceLoader(inner, options, std::move(device)));
  const Current current(*made->device_);
  if (Error e = made->prepare(); !e.ok()) return e;
  if (Error e = made->start(); !e.ok()) return e;
  loader = made;
  return {};
}

// All memory is taken here: what a training needs later, and what a captured graph must not see
// allocated, is there before the first batch.
Error DeviceLoader::prepare() {
  echoline_loader_info info{};
  if (Error e = inner_->info(info); !e.ok()) return e;
  seed_ = info.seed;
  const std::shared_ptr<Attachment> attachment = inner_->attachment();
  const std::uint32_t rows_max = (info.batch_size + info.world_size - 1) / info.world_size;
  if (Error e = BatchLayout::make(attachment->ring(), rows_max, options_.echo_factor,
                                  options_.fields, layout_);
      !e.ok()) {
    return e;
  }
  if (layout_.needs_kernels) {
    if (Error e = Kernels::load(device_->driver(), kernels_); !e.ok()) return e;
  }
  if (Error e = make_stream(device_, streams_.copy); !e.ok()) return e;
  if (Error e = make_stream(device_, streams_.prepare); !e.ok()) return e;
  if (Error e = waits_.make(device_); !e.ok()) return e;
  if (Error e = HostPages::open(device_, attachment, {}, pages_); !e.ok()) return e;
  slots_.resize(options_.depth + echo_.kept_max() - 1);
  for (Slot& slot : slots_) {
    if (Error e = Buffer::make(device_, layout_, slot.buffer); !e.ok()) return e;
  }
  State position;
  if (Error e = inner_->state(position); !e.ok()) return e;
  const auto place = inner_->device_echo_position();
  queue_ = std::make_unique<EchoQueue>(echo_, std::move(position), place ? place->step : 0);
  return {};
}

Error DeviceLoader::start() {
  const auto settle = [self = weak_from_this()](const std::shared_ptr<Attachment>& left) {
    const auto loader = self.lock();
    return loader == nullptr || loader->leave_ring(left);
  };
  if (Error e = inner_->set_drain_hook(settle); !e.ok()) return e;
  const NoSignals no_signals;
  try {
    threads_ = 1;
    releaser_ = std::thread([self = shared_from_this()] { self->release_loop(); });
    begin_thread();
    copier_ = std::thread([self = shared_from_this()] { self->copy_loop(); });
    return {};
  } catch (const std::exception& e) {
    end_thread();  // the one that did not begin
    close();
    return {ECHOLINE_RESOURCE_EXHAUSTED, std::string("can't start a thread: ") + e.what()};
  }
}

void DeviceLoader::begin_thread() {
  const std::lock_guard lock(mutex_);
  ++threads_;
}

void DeviceLoader::end_thread() {
  const std::lock_guard lock(mutex_);
  --threads_;
  wake_all();
}

void DeviceLoader::close() {
  std::unique_lock lock(mutex_);
  fail({ECHOLINE_CANCELLED, "the loader was closed"});
  const auto end = std::chrono::steady_clock::now() + kPatience;
  const bool ended = for_trainers_.wait_until(lock, end, [&] { return threads_ == 0; });
  lock.unlock();
  for (std::thread* thread : {&copier_, &releaser_}) {
    if (!thread->joinable()) continue;
    ended ? thread->join() : thread->detach();
  }
  // Else copies still read the ring: the loader is to ask before it leaves it.
  if (!ended) return;
  (void)inner_->set_drain_hook(nullptr);
  // A batch that the trainer keeps is to keep nothing of the ring; but to unregister memory may
  // wait for the whole device.
  patience_ends_ = end;
  if (!await_idle(end)) return;
  const std::lock_guard pages_lock(pages_mutex_);
  pages_.reset();
  left_.reset();
}

bool DeviceLoader::idle() const {
  const Current current(*device_);
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(
      slots_, [](const Slot& slot) { return slot.buffer == nullptr || slot.buffer->idle(); });
}

bool DeviceLoader::await_idle(std::chrono::steady_clock::time_point end) const {
  while (!idle()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// Memory is freed when nothing reads or writes it. What hangs in the driver is left to it, and all
// the rest with it: to free anything waits for the whole device.
DeviceLoader::~DeviceLoader() {
  // What close() has waited is not waited again.
  const auto now = std::chrono::steady_clock::now();
  const auto end =
      patience_ends_ && now < *patience_ends_ + kLook ? *patience_ends_ : now + kPatience;
  const Current current(*device_);
  if (await_idle(end)) {
    kernels_.reset();
    return;
  }
  for (Slot& slot : slots_) (void)slot.buffer.release();
  (void)kernels_.release();
  new std::shared_ptr<HostPages>(pages_);
}

void DeviceLoader::fail(Error error) {
  if (final_.ok()) final_ = std::move(error);
  wake_all();
}

void DeviceLoader::wake_all() {
  for_trainers_.notify_all();
  for_copier_.notify_all();
  for_releaser_.notify_all();
}

Error DeviceLoader::check_stream(StreamHandle stream) const {
  if (stream == kStreamPerThread) {
    return {ECHOLINE_INVALID_ARGUMENT,
            "the default stream of each thread is another one in every thread that lets a batch "
            "go; name a stream of your own"};
  }
  int status = kCaptureNone;
  const Code code = device_->driver().stream_is_capturing(stream, &status);
  if (code == kSuccess && status != kCaptureNone) {
    return {ECHOLINE_INVALID_ARGUMENT,
            "the stream is being captured into a CUDA graph; take batches outside of the capture "
            "and copy them to the graph's input"};
  }
  return driver_error(device_->driver(), code, "the stream can't be used");
}

// Whether a use is in the trainer's hands that the next one would write over.
bool DeviceLoader::is_in_use(const Slot& slot) const { return layout_.flips_any && slot.held > 0; }

// What a trainer is told that has to wait and was not to: LEASE_HELD where only it can help.
Error DeviceLoader::nothing_yet(const EchoQueue::Next& next) {
  const auto mine = [](const Slot& slot) {
    return slot.held > 0 && slot.taker == std::this_thread::get_id();
  };
  const auto taken = [](const Slot& slot) { return slot.held > 0 || slot.queued; };
  if (next.what == EchoQueue::What::kBatch && mine(*next.slot)) {
    return {ECHOLINE_LEASE_HELD,
            "the next use of this batch mirrors other rows: release the one before first, or raise "
            "the window of device echo"};
  }
  const bool stuck = std::ranges::all_of(slots_, taken) &&
                     std::ranges::any_of(slots_, [](const Slot& slot) { return slot.held > 0; });
  if (!stuck) {
    stuck_since_.reset();
  } else if (!stuck_since_) {
    stuck_since_ = std::chrono::steady_clock::now();
  }
  // What another thread took it may give back soon.
  if (stuck && (std::ranges::any_of(slots_, mine) ||
                std::chrono::steady_clock::now() - *stuck_since_ > kPatience)) {
    stuck_since_.reset();
    return {ECHOLINE_LEASE_HELD,
            "the trainer itself holds the device buffers that the next batch needs: release "
            "batches, or raise the depth, " +
                std::to_string(options_.depth) + " now"};
  }
  return {ECHOLINE_TIMEOUT, "no batch was ready in time"};
}

Error DeviceLoader::next(StreamHandle stream, std::int64_t timeout_ms,
                         std::unique_ptr<DeviceBatch>& batch) {
  const Current current(*device_);
  if (Error e = check_stream(stream); !e.ok()) return e;
  auto made = std::make_unique<DeviceBatch>();
  constexpr std::int64_t kLongestMs = 1'000'000'000'000;
  const auto end =
      std::chrono::steady_clock::now() +
      std::chrono::milliseconds(timeout_ms < 0 ? kLongestMs : std::min(timeout_ms, kLongestMs));
  std::unique_lock lock(mutex_);
  for (;;) {
    const EchoQueue::Next next = queue_->peek();
    if (next.what == EchoQueue::What::kEnd) {
      queue_->take(next);
      return {ECHOLINE_END_OF_EPOCH, "the epoch has ended"};
    }
    if (next.what == EchoQueue::What::kBatch && !is_in_use(*next.slot)) {
      Error e = give(next, stream, *made);
      if (e.ok()) batch = std::move(made);
      return e;
    }
    if (!final_.ok()) return final_;
    Error waits = nothing_yet(next);
    const auto now = std::chrono::steady_clock::now();
    if (waits.code() == ECHOLINE_LEASE_HELD || now >= end) return waits;
    for_trainers_.wait_until(lock, std::min(end, now + kLook));
  }
}

Error DeviceLoader::give(const EchoQueue::Next& next, StreamHandle stream, DeviceBatch& batch) {
  Slot& slot = *next.slot;
  if (Error e = slot.buffer->prepare(next.use, streams_, kernels_.get()); !e.ok()) return e;
  const Code code = waits_.begin(device_->driver(), stream);
  if (code != kSuccess) {
    return driver_error(device_->driver(), code,
                        "the stream can't be used; is it another device's?");
  }
  if (Error e = slot.buffer->let_wait(stream); !e.ok()) return e;
  waits_.end(device_->driver(), stream);
  queue_->take(next);
  slot.queued = !next.last_use;
  ++slot.held;
  slot.taker = std::this_thread::get_id();
  batch.loader = shared_from_this();
  batch.slot = &slot;
  batch.use = next.use;
  batch.last_use = next.last_use;
  batch.last_of_epoch = next.last_of_epoch;
  batch.uses = slot.buffer->uses();
  const auto factor = static_cast<std::uint32_t>(echo_.factor());
  for (std::uint32_t& use : batch.uses) use = use * factor + next.use;
  ++counts_.uses;
  return {};
}

Error DeviceLoader::let_wait(const DeviceBatch& batch, StreamHandle stream) const {
  const Current current(*device_);
  if (Error e = check_stream(stream); !e.ok()) return e;
  const std::lock_guard lock(mutex_);
  return batch.slot->buffer->let_wait(stream);
}

void DeviceLoader::release(DeviceBatch& batch, StreamHandle stream) {
  const Current current(*device_);
  const std::lock_guard lock(mutex_);
  Slot& slot = *batch.slot;
  Error e = check_stream(stream);
  if (e.ok()) e = slot.buffer->consume(stream);
  if (e.ok() && !batch.last_use) {
    e = slot.buffer->prepare(batch.use + 1, streams_, kernels_.get());
  }
  --slot.held;
  for_copier_.notify_one();
  for_trainers_.notify_all();
  if (!e.ok()) fail(std::move(e));
}

// While one lives, the copy thread is to stand still. With the lock held.
class DeviceLoader::Parking {
 public:
  explicit Parking(DeviceLoader& loader) : loader_(loader) {
    ++loader_.parks_;
    loader_.for_copier_.notify_one();
  }
  ~Parking() {
    --loader_.parks_;
    loader_.for_copier_.notify_one();
  }
  Parking(const Parking&) = delete;
  Parking& operator=(const Parking&) = delete;

 private:
  DeviceLoader& loader_;
};

// The copy thread stands still meanwhile, so that what it takes next is of the new epoch. Copies
// may be under way for as long as the trainer's stream is behind; those of the epoch that is left
// keep their slots until they end, and their bytes are nobody's.
Error DeviceLoader::begin_epoch() {
  std::unique_lock lock(mutex_);
  if (!queue_->begun()) return {};
  const Parking parking(*this);
  const auto still = [&] { return parked_ || !final_.ok(); };
  const bool stands = for_trainers_.wait_for(lock, kPatience, still);
  if (!final_.ok()) return final_;
  if (!stands) {
    return {ECHOLINE_DEADLINE_EXCEEDED,
            "the thread that puts copies on the GPU did not come back from the driver within 10 s"};
  }
  if (!queue_->begun()) return {};  // another call came first, and began it for all
  State position;
  if (!queue_->copies_are_ahead()) {
    if (Error e = inner_->begin_epoch(); !e.ok()) return e;
    if (Error e = inner_->state(position); !e.ok()) return e;
  }
  for (Slot* slot : queue_->drop_round(std::move(position))) slot->queued = false;
  return {};
}

Error DeviceLoader::state(State& state) {
  const std::lock_guard lock(mutex_);
  EchoQueue::Place place = queue_->place();
  state = std::move(place.position);
  state.device.reset();
  if (echo_.factor() > 1) {
    state.device = DeviceEchoPosition{options_.echo_factor, options_.echo_window, place.step};
  }
  return {};
}

void DeviceLoader::stats(echoline_cuda_stats& stats) {
  std::shared_ptr<HostPages> pages;
  {
    const std::lock_guard lock(pages_mutex_);
    pages = pages_;
  }
  const Current current(*device_);
  const std::lock_guard lock(mutex_);
  waits_.collect(device_->driver());
  stats = counts_;
  stats.wait_ns = waits_.wait_ns();
  stats.span_ns = waits_.span_ns();
  stats.device_bytes = slots_.size() * layout_.bytes;
  for (const Slot& slot : slots_) stats.pinned_bytes += slot.buffer->pinned_bytes();
  stats.path = pages->path();
}

}  // namespace echoline::client::cuda
