#include "cuda/buffer.h"

#include <cstring>
#include <new>

#include "cuda/driver.h"
#include "cuda/field_kernels.h"
#include "cuda/no_memory.h"

namespace echoline::client::cuda {

Error Buffer::make(std::shared_ptr<const Device> device, const BatchLayout& layout,
                   std::unique_ptr<Buffer>& buffer) {
  std::unique_ptr<Buffer> made(new Buffer(std::move(device), layout));
  if (Error e = made->make_memory(); !e.ok()) return e;
  buffer = std::move(made);
  return {};
}

Error Buffer::make_memory() {
  if (Error e = allocate(device_, layout_.bytes, memory_); !e.ok()) return e;
  if (layout_.meta_bytes > 0) {
    // Pinned, so that the device reads it without a copy by the CPU.
    if (Error e = allocate_pinned(device_, layout_.meta_bytes, meta_); !e.ok()) return e;
    pinned_bytes_ = layout_.meta_bytes;
  }
  for (Event* event : {&copy_begun_, &copied_, &prepared_, &consumed_}) {
    if (Error e = make_event(device_, *event); !e.ok()) return e;
  }
  value_bytes_.resize(layout_.fields.size());
  return {};
}

Error Buffer::to_error(Code code, const char* what) const {
  return driver_error(device_->driver(), code, what);
}

Error Buffer::load(const Batch& batch, const HostPages& pages, bool direct, const Streams& streams,
                   const Kernels* kernels, std::uint32_t uses, std::uint64_t seed) {
  Error e;
  try {
    rows_.assign(batch);
    // The previous copy has ended, so the CPU may write to meta_.
    write_meta(batch, rows_, layout_, uses, seed, static_cast<std::byte*>(meta_.get()));
    was_consumed_ = false;
    prepared_use_.reset();
    copied_bytes_ = 0;
    e = copy_batch(batch, pages, direct, streams.copy.get());
    if (e.ok()) e = prepare(0, streams, kernels);
  } catch (const std::bad_alloc&) {
    e = no_memory();
  }
  if (e.ok()) return {};
  // Part of it may be on the streams: the caller may free the batch only when that has ended.
  device_->driver().stream_synchronize(streams.copy.get());
  device_->driver().stream_synchronize(streams.prepare.get());
  return e;
}

// The first copy into a buffer waits for events that were never recorded: those are complete.
Error Buffer::copy_batch(const Batch& batch, const HostPages& pages, bool direct,
                         StreamHandle stream) {
  const DriverTable& driver = device_->driver();
  // Kernels and the trainer may still read the batch that was in the buffer before.
  Code code = driver.stream_wait_event(stream, prepared_.get(), 0);
  if (code == kSuccess) code = driver.stream_wait_event(stream, consumed_.get(), 0);
  if (code == kSuccess) code = driver.event_record(copy_begun_.get(), stream);
  if (code != kSuccess) return to_error(code, "can't order a copy to the GPU");
  if (Error e = copy_fields(batch, pages, direct, stream); !e.ok()) return e;
  return to_error(driver.event_record(copied_.get(), stream), "can't order a copy to the GPU");
}

Error Buffer::copy(std::size_t offset, const void* from, std::size_t bytes, StreamHandle stream) {
  if (bytes == 0) return {};
  copied_bytes_ += bytes;
  return to_error(device_->driver().copy_to_device(at(offset), from, bytes, stream),
                  "can't copy a batch to the GPU");
}

// The staged bytes have the same offsets as in device memory, so fields do not overlap.
Error Buffer::stage(const void* from, std::size_t bytes, std::size_t offset, const void*& staged) {
  // Kept for all later batches.
  if (staged_.get() == nullptr) {
    if (Error e = allocate_pinned(device_, layout_.bytes, staged_); !e.ok()) return e;
    pinned_bytes_ += layout_.bytes;
  }
  auto* const to = static_cast<std::byte*>(staged_.get()) + offset;
  std::memcpy(to, from, bytes);
  staged = to;
  return {};
}

Error Buffer::copy_fields(const Batch& batch, const HostPages& pages, bool direct,
                          StreamHandle stream) {
  if (Error e = copy(0, meta_.get(), layout_.meta_bytes, stream); !e.ok()) return e;
  for (std::size_t f = 0; f < layout_.fields.size(); ++f) {
    const FieldPlan& plan = layout_.fields[f];
    echoline_tensor tensor{};
    batch.tensor(batch.attachment().ring().fields()[f], tensor);
    const auto* from = static_cast<const std::byte*>(tensor.data);
    if (tensor.offsets != nullptr) from += tensor.offsets[0];
    value_bytes_[f] = tensor.bytes;
    // The ring is written by another process: a wrong length must not write beyond the buffer.
    if (tensor.bytes > rows() * plan.input_row_bytes) {
      return {ECHOLINE_DATA_LOSS, "the daemon's ring is not valid: rows of field '" + plan.name +
                                      "' are longer than they can be"};
    }
    // Rows that were assembled for this batch are in the process's own memory, not in the ring.
    const void* source = from;
    if (!direct || !pages.covers(from, tensor.bytes)) {
      if (Error e = stage(from, tensor.bytes, plan.input, source); !e.ok()) return e;
    }
    if (Error e = copy(plan.input, source, tensor.bytes, stream); !e.ok()) return e;
  }
  return {};
}

// Without flips all uses are the same: the kernels run once for each batch.
Error Buffer::prepare(std::uint32_t use, const Streams& streams, const Kernels* kernels) {
  const bool ready = prepared_use_ && (*prepared_use_ == use || !layout_.flips_any);
  if (kernels == nullptr || ready) return {};
  const DriverTable& driver = device_->driver();
  const StreamHandle stream = streams.prepare.get();
  Code code = driver.stream_wait_event(stream, copied_.get(), 0);
  // Not for the first use: the copy itself has waited for consumed_.
  if (code == kSuccess && was_consumed_) {
    code = driver.stream_wait_event(stream, consumed_.get(), 0);
  }
  if (code != kSuccess) return to_error(code, "can't order a kernel");
  const auto* flips =
      reinterpret_cast<const std::uint8_t*>(at(layout_.flips)) + use * layout_.rows_max;
  Error e;
  for (const FieldPlan& plan : layout_.fields) {
    if (!e.ok()) break;
    e = launch_field_kernel(plan, memory_.get(), rows(), plan.flip ? flips : nullptr, *kernels,
                            stream);
  }
  // After an error too: the next copy into the buffer must wait for the kernels that were launched.
  code = driver.event_record(prepared_.get(), stream);
  if (e.ok()) e = to_error(code, "can't order a kernel");
  if (e.ok()) prepared_use_ = use;
  return e;
}

// An error counts as idle: if the driver cannot say, the device is lost: nothing runs on it any
// more.
bool Buffer::idle() const {
  const DriverTable& driver = device_->driver();
  for (const Event* event : {&copied_, &prepared_, &consumed_}) {
    if (event->get() != nullptr && driver.event_query(event->get()) == kNotReady) return false;
  }
  return true;
}

Error Buffer::is_copied(bool& ended) const {
  const Code code = device_->driver().event_query(copied_.get());
  ended = code == kSuccess;
  return code == kNotReady ? Error() : to_error(code, "a copy to the GPU failed");
}

Error Buffer::wait_copied() const {
  return to_error(device_->driver().event_synchronize(copied_.get()), "a copy to the GPU failed");
}

Error Buffer::copy_time(float& milliseconds) const {
  return to_error(device_->driver().event_elapsed(&milliseconds, copy_begun_.get(), copied_.get()),
                  "can't tell how long a copy took");
}

Error Buffer::make_wait(StreamHandle stream) const {
  const EventHandle ready = layout_.needs_kernels ? prepared_.get() : copied_.get();
  return to_error(device_->driver().stream_wait_event(stream, ready, 0),
                  "can't make the trainer's stream wait for its batch");
}

// Uses may be on several streams: the stream first waits for the use before, so that one event is
// enough for all of them.
Error Buffer::mark_consumed(StreamHandle stream) {
  const DriverTable& driver = device_->driver();
  Code code = kSuccess;
  if (was_consumed_) {
    code = driver.stream_wait_event(stream, consumed_.get(), 0);
  }
  if (code == kSuccess) code = driver.event_record(consumed_.get(), stream);
  was_consumed_ = true;
  return to_error(code, "can't note that a batch was consumed");
}

}  // namespace echoline::client::cuda
