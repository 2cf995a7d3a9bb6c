#include "cuda/host_pages.h"

#include <sys/mman.h>

#include "cuda/driver.h"

namespace echoline::client::cuda {
namespace {

// Codes that mean that this memory cannot be registered: then the CPU copies. All other codes are
// errors of the device.
bool is_refusal(Code code) {
  return code == kInvalidValue || code == kOutOfMemory || code == kNotPermitted ||
         code == kNotSupported || code == kHostMemoryAlreadyRegistered;
}

}  // namespace

Error HostPages::open(std::shared_ptr<const Device> device, std::shared_ptr<Attachment> attachment,
                      const shm::DeviceFigures& before, std::shared_ptr<HostPages>& pages) {
  const std::shared_ptr<HostPages> made(
      new HostPages(std::move(device), std::move(attachment), before));
  if (Error e = made->register_all(); !e.ok()) return e;
  pages = made;
  return {};
}

HostPages::~HostPages() { unregister_all(); }

// All fields or none, so that path() is true of every field.
Error HostPages::register_all() {
  const CurrentContext current(*device_);
  const RingView& ring = attachment_->ring();
  const bool sealed = (ring.header().flags & shm::kRingSealed) != 0;
  if (device_->registers_read_only()) {
    path_ = ECHOLINE_PATH_READ_ONLY;
  } else if (!sealed) {
    path_ = ECHOLINE_PATH_WRITABLE;
  } else {
    return {};  // sealed, and the device can't register read-only memory: the CPU copies
  }
  for (const Field& field : ring.fields()) {
    // The arenas of fixed-size fields are mapped twice in a row, so that no batch wraps around.
    const Range range{field.arena, field.ragged ? field.arena_bytes : 2 * field.arena_bytes};
    const Code code = register_range(range);
    if (code == kSuccess) {
      registered_.push_back(range);
      continue;
    }
    if (!is_refusal(code)) return driver_error(device_->driver(), code, "can't register the ring");
    unregister_all();
    path_ = ECHOLINE_PATH_STAGED;
    return {};
  }
  return {};
}

// The mapping is writable only while the driver pins it: the process must not write to the ring.
Code HostPages::register_range(const Range& range) const {
  auto* begin = const_cast<std::byte*>(range.begin);
  const DriverTable& driver = device_->driver();
  if (path_ == ECHOLINE_PATH_READ_ONLY) {
    return driver.host_register(begin, range.bytes, kHostRegisterPortable | kHostRegisterReadOnly);
  }
  if (mprotect(begin, range.bytes, PROT_READ | PROT_WRITE) != 0) return kNotPermitted;
  const Code code = driver.host_register(begin, range.bytes, kHostRegisterPortable);
  mprotect(begin, range.bytes, PROT_READ);
  return code;
}

void HostPages::unregister_all() {
  const CurrentContext current(*device_);
  for (const Range& range : registered_) {
    device_->driver().host_unregister(const_cast<std::byte*>(range.begin));
  }
  registered_.clear();
}

bool HostPages::covers(const void* begin, std::size_t bytes) const {
  const auto* at = static_cast<const std::byte*>(begin);
  for (const Range& range : registered_) {
    if (at >= range.begin && at + bytes <= range.begin + range.bytes) return true;
  }
  return false;
}

void HostPages::report(const shm::DeviceFigures& all) const {
  // The daemon of this ring gets only what was done for this ring.
  attachment_->cursor().report_device({all.batches - before_.batches, all.uses - before_.uses,
                                       all.bytes - before_.bytes, all.copy_ns - before_.copy_ns,
                                       all.wait_ns - before_.wait_ns});
}

bool HostPages::begin_copy() {
  const std::lock_guard lock(mutex_);
  if (leaving_ || registered_.empty()) return false;
  ++copies_;
  return true;
}

void HostPages::end_copy() {
  const std::lock_guard lock(mutex_);
  if (--copies_ == 0) ended_.notify_all();
}

// Waiting under a lock of the caller cannot deadlock: end_copy() takes only mutex_.
bool HostPages::leave(std::chrono::nanoseconds timeout) {
  std::unique_lock lock(mutex_);
  leaving_ = true;
  return ended_.wait_for(lock, timeout, [&] { return copies_ == 0; });
}

}  // namespace echoline::client::cuda
