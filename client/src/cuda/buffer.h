// One batch in device memory: its bytes, the events that order access to them, and what the host
// keeps of its rows.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "cuda/batch_layout.h"
#include "cuda/batch_rows.h"
#include "cuda/device.h"
#include "cuda/host_pages.h"
#include "cuda/kernels.h"

namespace echoline::client::cuda {

// A loader's own streams. Two, so that no copy waits behind a kernel of another batch.
struct Streams {
  Stream copy;
  Stream prepare;
};

// Order on the device: a copy into the buffer waits for `consumed_` and, where kernels read the
// buffer, for `prepared_`; kernels wait for `copied_` and, on later uses, for `consumed_`; the
// trainer's stream waits for what it reads.
//
// One thread at a time, with the device's context current: the copier while it loads the buffer,
// else the thread that holds SlotTable::mutex. Exceptions are idle(), is_copied(), wait_copied()
// and copy_time(): they only ask the driver and may run in parallel with everything else.
class Buffer {
 public:
  // `layout` outlives the buffer.
  static Error make(std::shared_ptr<const Device> device, const BatchLayout& layout,
                    std::unique_ptr<Buffer>& buffer);

  // Puts the batch's copy on the stream, and the kernels of its first use behind it. The previous
  // copy has ended; the batch must live until this one has. After an error none of it runs any
  // more. `direct`: the device may read the ring itself. `uses`: by device echo; `seed`: the
  // stream's.
  Error load(const Batch& batch, const HostPages& pages, bool direct, const Streams& streams,
             const Kernels* kernels, std::uint32_t uses, std::uint64_t seed);
  // Puts the kernels of a use on the stream, unless they were already. All but the first use wait
  // on the device until the use before is consumed.
  Error prepare(std::uint32_t use, const Streams& streams, const Kernels* kernels);
  // Nothing on the device reads or writes it.
  bool idle() const;
  // Whether the copy has ended; does not wait.
  Error is_copied(bool& ended) const;
  // Sleeps until the copy has ended, without a limit.
  Error wait_copied() const;
  // How long the copy took on the device, once it has ended.
  Error copy_time(float& milliseconds) const;

  // Makes the stream wait, on the device, until the prepared use is ready.
  Error make_wait(StreamHandle stream) const;
  // The use ends when the stream has passed this point.
  Error mark_consumed(StreamHandle stream);

  DevicePointer at(std::size_t offset) const { return memory_.get() + offset; }
  const BatchInfo& facts() const { return rows_.facts; }
  std::uint32_t rows() const { return rows_.count(); }
  const std::vector<std::uint64_t>& sample_ids() const { return rows_.sample_ids; }
  const std::vector<std::uint32_t>& uses() const { return rows_.uses; }
  const std::vector<std::uint32_t>& row_flags() const { return rows_.row_flags; }
  // Bytes of all rows of a ragged field.
  std::uint64_t value_bytes(std::size_t field) const { return value_bytes_[field]; }
  std::uint64_t copied_bytes() const { return copied_bytes_; }
  // Any thread.
  std::uint64_t pinned_bytes() const { return pinned_bytes_.load(std::memory_order_relaxed); }

 private:
  Buffer(std::shared_ptr<const Device> device, const BatchLayout& layout)
      : device_(std::move(device)), layout_(layout) {}
  // Allocates the device memory and the events; only make() calls it.
  Error make_memory();
  // Puts the copy on the stream, between the events that order and measure it.
  Error copy_batch(const Batch& batch, const HostPages& pages, bool direct, StreamHandle stream);
  // Copies what the CPU computed, then each field's rows.
  Error copy_fields(const Batch& batch, const HostPages& pages, bool direct, StreamHandle stream);
  // Copies bytes into pinned memory first; `staged` is where they are then.
  Error stage(const void* from, std::size_t bytes, std::size_t offset, const void*& staged);
  // Puts one copy on the stream and counts its bytes.
  Error copy(std::size_t offset, const void* from, std::size_t bytes, StreamHandle stream);
  Error to_error(Code code, const char* what) const;

  const std::shared_ptr<const Device> device_;
  const BatchLayout& layout_;
  DeviceMemory memory_;
  PinnedMemory meta_;    // the layout's first meta_bytes, which the CPU computes
  PinnedMemory staged_;  // for what the device cannot read in the ring; made when first needed
  std::atomic<std::uint64_t> pinned_bytes_ = 0;
  Event copy_begun_;
  Event copied_;
  Event prepared_;
  Event consumed_;
  bool was_consumed_ = false;  // since it was loaded
  std::optional<std::uint32_t> prepared_use_;

  BatchRows rows_;
  std::vector<std::uint64_t> value_bytes_;  // by field
  std::uint64_t copied_bytes_ = 0;
};

}  // namespace echoline::client::cuda
