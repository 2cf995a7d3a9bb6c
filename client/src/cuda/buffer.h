// One batch in device memory: the bytes, the events that order who may touch them, and the facts
// that the host keeps of its rows.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "cuda/batch_layout.h"
#include "cuda/device.h"
#include "cuda/host_pages.h"
#include "cuda/kernels.h"
#include "mapped_ring/batch.h"
#include "state/state_json.h"

namespace echoline::client::cuda {

// Streams of a loader: copies and kernels are apart, so that the link never waits for a kernel.
struct Streams {
  Stream copy;
  Stream prepare;
};

// The order on the device: a copy into the buffer waits for `consumed_` and, where kernels read it,
// for `prepared_`; kernels wait for `copied_` or, on later uses, for `consumed_`; the trainer's
// stream waits for what it reads. One thread at a time, with the device's context current; the copy
// thread while it is loaded, the loader's lock after that. But idle, await_copied and copy_time,
// which only ask the driver, run beside all else.
class Buffer {
 public:
  static Error make(std::shared_ptr<const Device> device, const BatchLayout& layout,
                    std::unique_ptr<Buffer>& buffer);

  // Puts the batch's copy on the stream, and the kernels behind it; the copy before has ended, and
  // the batch lives until this one has. After an error nothing is under way. `direct`: the device
  // may read the ring itself. `uses`: by device echo; `seed`: the stream's, for draws.
  Error load(const Batch& batch, const HostPages& pages, bool direct, const Streams& streams,
             const Kernels* kernels, std::uint32_t uses, std::uint64_t seed);
  // Makes a use ready, the first one by load; later ones wait until the one before is consumed. If
  // it is already, nothing.
  Error prepare(std::uint32_t use, const Streams& streams, const Kernels* kernels);
  // Nothing on the device touches it any more.
  bool idle() const;
  // Sleeps until the copy has ended.
  Error await_copied() const;
  Error copy_time(float& milliseconds) const;

  // The stream waits until the use is ready; and the use is over when it has passed this point.
  Error let_wait(StreamHandle stream) const;
  Error consume(StreamHandle stream);

  DevicePointer at(std::size_t offset) const { return memory_.get() + offset; }
  const BatchInfo& facts() const { return facts_; }
  std::uint32_t rows() const { return static_cast<std::uint32_t>(sample_ids_.size()); }
  const std::vector<std::uint64_t>& sample_ids() const { return sample_ids_; }
  const std::vector<std::uint32_t>& uses() const { return uses_; }
  const std::vector<std::uint32_t>& row_flags() const { return row_flags_; }
  // Bytes of a ragged field's rows together.
  std::uint64_t value_bytes(std::size_t field) const { return value_bytes_[field]; }
  std::uint64_t copied_bytes() const { return copied_bytes_; }
  std::uint64_t pinned_bytes() const { return pinned_bytes_.load(std::memory_order_relaxed); }

 private:
  Buffer(std::shared_ptr<const Device> device, const BatchLayout& layout)
      : device_(std::move(device)), layout_(layout) {}
  Error make_memory();
  void keep_facts(const Batch& batch);
  void make_meta(const Batch& batch, std::uint32_t uses, std::uint64_t seed);
  Error put_copies(const Batch& batch, const HostPages& pages, bool direct, StreamHandle stream);
  Error copy_fields(const Batch& batch, const HostPages& pages, bool direct, StreamHandle stream);
  Error stage(const void* from, std::size_t bytes, std::size_t offset, const void*& staged);
  Error copy(std::size_t offset, const void* from, std::size_t bytes, StreamHandle stream);
  Error launch(const FieldPlan& plan, const std::uint8_t* flips, const Kernels& kernels,
               StreamHandle stream) const;
  Error answer(Code code, const char* what) const;

  const std::shared_ptr<const Device> device_;
  const BatchLayout& layout_;
  DeviceMemory memory_;
  PinnedMemory meta_;    // pinned, for the layout's first bytes
  PinnedMemory staged_;  // where the device can't read the source; made when first needed
  std::atomic<std::uint64_t> pinned_bytes_ = 0;  // read by any thread
  Event copy_begun_;
  Event copied_;
  Event prepared_;
  Event consumed_;
  bool was_consumed_ = false;  // since it was loaded
  std::optional<std::uint32_t> prepared_use_;

  BatchInfo facts_;
  std::vector<std::uint64_t> sample_ids_;
  std::vector<std::uint32_t> uses_;
  std::vector<std::uint32_t> row_flags_;
  std::vector<std::uint64_t> value_bytes_;
  std::uint64_t copied_bytes_ = 0;
};

}  // namespace echoline::client::cuda
