// The two threads of a loader on a device.
#include <pthread.h>

#include <algorithm>
#include <new>

#include "cuda/device_loader.h"
#include "cuda/driver.h"

namespace echoline::client::cuda {
namespace {

// Its text is so short that it needs none.
Error no_memory() { return {ECHOLINE_RESOURCE_EXHAUSTED, "no memory"}; }

// How long the copy thread listens to the ring before it looks whether it is to stop.
constexpr std::int64_t kSliceMs = 50;

}  // namespace

void DeviceLoader::copy_loop() {
  pthread_setname_np(pthread_self(), "echoline-copy");
  {
    const Current current(*device_);
    while (Slot* slot = await_slot()) try_batch(*slot);
  }
  end_thread();
}

// A slot to fill, marked; null when it is time to end.
Slot* DeviceLoader::await_slot() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (!final_.ok()) return nullptr;
    parked_ = parks_ > 0;
    const auto free = std::ranges::find_if(slots_, &Slot::free);
    if (!parked_ && free != slots_.end()) {
      free->loading = true;
      return &*free;
    }
    if (parked_) for_trainers_.notify_all();
    for_copier_.wait(lock);
  }
}

bool DeviceLoader::copies_are_under_way() {
  const std::lock_guard lock(mutex_);
  return !copies_.empty();
}

// No exception may leave a thread of the library.
void DeviceLoader::try_batch(Slot& slot) {
  try {
    take_batch(slot);
  } catch (const std::bad_alloc&) {
    const std::lock_guard lock(mutex_);
    fail(no_memory());
  }
}

void DeviceLoader::take_batch(Slot& slot) {
  std::unique_ptr<Batch> batch;
  State after;
  const bool lent = copies_are_under_way();
  Error e = inner_->next(kSliceMs, batch);
  if (e.ok() || e.code() == ECHOLINE_END_OF_EPOCH) {
    if (Error state = inner_->state(after); !state.ok()) e = state;
  }
  if (e.ok()) return load(slot, std::move(batch), std::move(after));
  std::unique_lock lock(mutex_);
  slot.loading = false;
  if (e.code() == ECHOLINE_END_OF_EPOCH) {
    queue_->end_epoch(std::move(after));
    for_trainers_.notify_all();
  } else if (e.code() == ECHOLINE_LEASE_HELD && lent) {
    if (!copies_.empty()) for_copier_.wait_for(lock, std::chrono::milliseconds(kSliceMs));
  } else if (e.code() != ECHOLINE_TIMEOUT) {
    fail(std::move(e));
  }
}

Error DeviceLoader::pages_for(const Batch& batch, std::shared_ptr<HostPages>& pages) {
  const shm::DeviceFigures before = figures();
  const std::lock_guard lock(pages_mutex_);
  if (pages_->attachment() != &batch.attachment()) {
    if (Error e = HostPages::open(device_, batch.shared_attachment(), before, pages_); !e.ok()) {
      return e;
    }
    if (left_.get() == &batch.attachment()) pages_->leave({});
  }
  pages = pages_;
  return {};
}

void DeviceLoader::load(Slot& slot, std::unique_ptr<Batch> batch, State after) {
  std::shared_ptr<HostPages> pages;
  Error e = pages_for(*batch, pages);
  const bool last = batch->info().last;
  // Before the device reads the batch, so that no want of memory parts the two.
  std::list<Copy> made;
  made.push_back({&slot, std::move(batch), std::move(pages), false});
  Copy& copy = made.front();
  if (e.ok()) {
    copy.direct = copy.pages->begin_copy();
    e = slot.buffer->load(*copy.batch, *copy.pages, copy.direct, streams_, kernels_.get(),
                          options_.echo_factor, seed_);
    if (!e.ok() && copy.direct) copy.pages->end_copy();
  }
  const std::lock_guard lock(mutex_);
  slot.loading = false;
  if (!e.ok()) return fail(std::move(e));
  slot.copying = slot.queued = true;
  copies_.splice(copies_.end(), made);
  queue_->add(slot, std::move(after), last);
  for_trainers_.notify_all();
  for_releaser_.notify_one();
}

void DeviceLoader::release_loop() {
  pthread_setname_np(pthread_self(), "echoline-free");
  {
    const Current current(*device_);
    std::unique_lock lock(mutex_);
    for (;;) {
      for_releaser_.wait(lock, [&] { return !copies_.empty() || (!final_.ok() && threads_ == 1); });
      if (copies_.empty()) break;
      Copy& copy = copies_.front();
      lock.unlock();
      Error e = end_copy(copy);
      lock.lock();
      copies_.front().slot->copying = false;
      copies_.pop_front();
      for_copier_.notify_one();
      for_trainers_.notify_all();
      if (!e.ok()) fail(std::move(e));
    }
  }
  end_thread();
}

// Only this thread takes from the front, and a list's elements stay where they are.
Error DeviceLoader::end_copy(Copy& copy) {
  float milliseconds = 0;
  Error e;
  try {
    e = copy.slot->buffer->await_copied();
    if (e.ok()) e = copy.slot->buffer->copy_time(milliseconds);
  } catch (const std::bad_alloc&) {  // of an error's text
    e = no_memory();
  }
  if (!e.ok()) device_->driver().stream_synchronize(streams_.copy.get());
  if (copy.direct) copy.pages->end_copy();
  copy.batch.reset();
  {
    const std::lock_guard lock(mutex_);
    ++counts_.batches;
    counts_.copied_bytes += copy.slot->buffer->copied_bytes();
    counts_.copy_ns += static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6);
    waits_.collect(device_->driver());
  }
  copy.pages->tell(figures());
  copy.pages.reset();
  return e;
}

shm::DeviceFigures DeviceLoader::figures() const {
  const std::lock_guard lock(mutex_);
  return {counts_.batches, counts_.uses, counts_.copied_bytes, counts_.copy_ns, waits_.wait_ns()};
}

// Before the loader lets go of a ring: the device must not read it any more.
bool DeviceLoader::leave_ring(const std::shared_ptr<Attachment>& left) {
  std::shared_ptr<HostPages> pages;
  {
    const std::lock_guard lock(pages_mutex_);
    left_ = left;
    pages = pages_;
  }
  return pages->leave(kLeavePatience);
}

}  // namespace echoline::client::cuda
