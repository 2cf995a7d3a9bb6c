#include "cuda/buffer.h"

#include <cstring>
#include <new>

#include "cuda/driver.h"
#include "echoline/shm/sample_random.h"

namespace echoline::client::cuda {
namespace {

// The draws' place in the count of pipeline steps (semantics.md, Randomness): that behind all
// of the daemon's.
constexpr std::uint8_t kDeviceStep = 255;

template <typename T>
T* as(DevicePointer pointer) {
  return reinterpret_cast<T*>(pointer);
}

}  // namespace

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
    if (Error e = allocate_pinned(device_, layout_.meta_bytes, meta_); !e.ok()) return e;
    pinned_bytes_ = layout_.meta_bytes;
  }
  for (Event* event : {&copy_begun_, &copied_, &prepared_, &consumed_}) {
    if (Error e = make_event(device_, *event); !e.ok()) return e;
  }
  value_bytes_.resize(layout_.fields.size());
  return {};
}

Error Buffer::answer(Code code, const char* what) const {
  return driver_error(device_->driver(), code, what);
}

void Buffer::keep_facts(const Batch& batch) {
  const std::uint32_t rows = batch.rows();
  facts_ = batch.info();
  sample_ids_.assign(batch.sample_ids(), batch.sample_ids() + rows);
  uses_.assign(batch.uses(), batch.uses() + rows);
  row_flags_.assign(batch.row_flags(), batch.row_flags() + rows);
}

Error Buffer::load(const Batch& batch, const HostPages& pages, bool direct, const Streams& streams,
                   const Kernels* kernels, std::uint32_t uses, std::uint64_t seed) {
  Error e;
  try {
    keep_facts(batch);
    make_meta(batch, uses, seed);
    was_consumed_ = false;
    prepared_use_.reset();
    copied_bytes_ = 0;
    e = put_copies(batch, pages, direct, streams.copy.get());
    if (e.ok()) e = prepare(0, streams, kernels);
  } catch (const std::bad_alloc&) {
    e = {ECHOLINE_RESOURCE_EXHAUSTED, "no memory"};  // so short that it needs none
  }
  if (e.ok()) return {};
  device_->driver().stream_synchronize(streams.copy.get());
  device_->driver().stream_synchronize(streams.prepare.get());
  return e;
}

Error Buffer::put_copies(const Batch& batch, const HostPages& pages, bool direct,
                         StreamHandle stream) {
  const DriverTable& driver = device_->driver();
  Code code = driver.stream_wait_event(stream, prepared_.get(), 0);
  if (code == kSuccess) code = driver.stream_wait_event(stream, consumed_.get(), 0);
  if (code == kSuccess) code = driver.event_record(copy_begun_.get(), stream);
  if (code != kSuccess) return answer(code, "can't order a copy to the GPU");
  if (Error e = copy_fields(batch, pages, direct, stream); !e.ok()) return e;
  return answer(driver.event_record(copied_.get(), stream), "can't order a copy to the GPU");
}

// The bytes that the CPU makes.
void Buffer::make_meta(const Batch& batch, std::uint32_t uses, std::uint64_t seed) {
  auto* const meta = static_cast<std::byte*>(meta_.get());
  for (std::size_t f = 0; f < layout_.fields.size(); ++f) {
    echoline_tensor tensor{};
    batch.tensor(batch.attachment().ring().fields()[f], tensor);
    if (tensor.offsets == nullptr) continue;
    auto* const offsets = reinterpret_cast<std::uint64_t*>(meta + layout_.fields[f].offsets);
    for (std::uint32_t row = 0; row <= batch.rows(); ++row) {
      offsets[row] = tensor.offsets[row] - tensor.offsets[0];
    }
  }
  if (!layout_.flips_any) return;
  auto* flip = reinterpret_cast<std::uint8_t*>(meta + layout_.flips);
  for (std::uint32_t use = 0; use < uses; ++use) {
    for (std::uint32_t row = 0; row < batch.rows(); ++row) {
      const auto of_all = static_cast<std::uint16_t>(uses_[row] * uses + use);
      SampleRandom random({seed, sample_ids_[row], facts_.position.epoch, of_all}, kDeviceStep);
      flip[use * layout_.rows_max + row] = random.next_u32() >> 31 != 0;
    }
  }
}

Error Buffer::copy(std::size_t offset, const void* from, std::size_t bytes, StreamHandle stream) {
  if (bytes == 0) return {};
  copied_bytes_ += bytes;
  return answer(device_->driver().copy_to_device(at(offset), from, bytes, stream),
                "can't copy a batch to the GPU");
}

Error Buffer::stage(const void* from, std::size_t bytes, std::size_t offset, const void*& staged) {
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
    if (tensor.bytes > rows() * plan.input_row_bytes) {
      return {ECHOLINE_DATA_LOSS, "the daemon's ring is not valid: rows of field '" + plan.name +
                                      "' are longer than they can be"};
    }
    const void* source = from;
    if (!direct || !pages.covers(from, tensor.bytes)) {
      if (Error e = stage(from, tensor.bytes, plan.input, source); !e.ok()) return e;
    }
    if (Error e = copy(plan.input, source, tensor.bytes, stream); !e.ok()) return e;
  }
  return {};
}

Error Buffer::prepare(std::uint32_t use, const Streams& streams, const Kernels* kernels) {
  const bool ready = prepared_use_ && (*prepared_use_ == use || !layout_.flips_any);
  if (kernels == nullptr || ready) return {};
  const DriverTable& driver = device_->driver();
  const StreamHandle stream = streams.prepare.get();
  Code code = driver.stream_wait_event(stream, copied_.get(), 0);
  if (code == kSuccess && was_consumed_) {
    code = driver.stream_wait_event(stream, consumed_.get(), 0);
  }
  if (code != kSuccess) return answer(code, "can't order a kernel");
  const auto* flips = as<const std::uint8_t>(at(layout_.flips)) + use * layout_.rows_max;
  Error e;
  for (const FieldPlan& plan : layout_.fields) {
    if (e.ok()) e = launch(plan, plan.flip ? flips : nullptr, *kernels, stream);
  }
  // After an error too: those that were launched are waited for.
  code = driver.event_record(prepared_.get(), stream);
  if (e.ok()) e = answer(code, "can't order a kernel");
  if (e.ok()) prepared_use_ = use;
  return e;
}

Error Buffer::launch(const FieldPlan& plan, const std::uint8_t* flips, const Kernels& kernels,
                     StreamHandle stream) const {
  switch (plan.transform) {
    case Transform::kNone:
      return {};
    case Transform::kNormalize: {
      NormalizeParams params{as<const std::uint8_t>(at(plan.input)),
                             as<void>(at(plan.result)),
                             flips,
                             rows(),
                             plan.height,
                             plan.width,
                             plan.channels,
                             {},
                             {}};
      std::memcpy(params.scale, plan.scale, sizeof(params.scale));
      std::memcpy(params.shift, plan.shift, sizeof(params.shift));
      return kernels.normalize(params, static_cast<echoline_dtype>(plan.dtype),
                               plan.channels_first ? Layout::kChw : Layout::kHwc, stream);
    }
    case Transform::kFlip:
      return kernels.flip(
          {as<const std::uint8_t>(at(plan.input)), as<std::uint8_t>(at(plan.result)), flips, rows(),
           plan.height, plan.width, plan.channels * plan.element_bytes},
          stream);
    case Transform::kPad:
      return kernels.pad(
          {as<const std::uint8_t>(at(plan.input)), as<const std::uint64_t>(at(plan.offsets)),
           as<std::uint8_t>(at(plan.result)), plan.row_bytes, plan.fill, plan.element_bytes,
           rows()},
          stream);
  }
  return {};
}

// Where the driver can't tell, the device is lost, and nothing runs on it any more.
bool Buffer::idle() const {
  const DriverTable& driver = device_->driver();
  for (const Event* event : {&copied_, &prepared_, &consumed_}) {
    if (event->get() != nullptr && driver.event_query(event->get()) == kNotReady) return false;
  }
  return true;
}

Error Buffer::await_copied() const {
  return answer(device_->driver().event_synchronize(copied_.get()), "a copy to the GPU failed");
}

Error Buffer::copy_time(float& milliseconds) const {
  return answer(device_->driver().event_elapsed(&milliseconds, copy_begun_.get(), copied_.get()),
                "can't tell how long a copy took");
}

Error Buffer::let_wait(StreamHandle stream) const {
  const EventHandle ready = layout_.needs_kernels ? prepared_.get() : copied_.get();
  return answer(device_->driver().stream_wait_event(stream, ready, 0),
                "can't make the trainer's stream wait for its batch");
}

// Uses on several streams: the last one's passing stands for all of them.
Error Buffer::consume(StreamHandle stream) {
  const DriverTable& driver = device_->driver();
  Code code = kSuccess;
  if (was_consumed_) {
    code = driver.stream_wait_event(stream, consumed_.get(), 0);
  }
  if (code == kSuccess) code = driver.event_record(consumed_.get(), stream);
  was_consumed_ = true;
  return answer(code, "can't note that a batch was consumed");
}

}  // namespace echoline::client::cuda
