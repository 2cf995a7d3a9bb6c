// The writer's side of one ring: creates it, gives the addresses of rows, publishes batches, and
// knows what all readers have released. Which slot is written next is decided by the pass
// (engine/walk/slot_pool.h). Layout and protocol: proto/echoline/shm, docs/ring_format.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/status.h"
#include "base/unique_fd.h"
#include "echoline/shm/ring_layout.h"
#include "plan/position.h"
#include "ring/layout.h"
#include "ring/reader.h"
#include "ring/ring_spec.h"

namespace echoline::ring {

class Mapping;
class Readers;
class ReleaseWait;

// Threads: one writer thread calls publish and wait_released; any thread calls the rest. Owns the
// memory, its mapping, and the cursors of its readers. Except for the cursors, the daemon makes no
// decision by values that it reads back from shared memory: the readers of an unsealed ring can
// overwrite it, and the daemon stays safe.
class Ring {
 public:
  using Reader = ring::Reader;

  // Reserves every page (so that a full memory is an error here, never a fault later), maps the
  // ring, and seals it.
  static Result<std::unique_ptr<Ring>> create(const RingSpec& spec);
  ~Ring();

  const RingSpec& spec() const { return spec_; }
  std::uint64_t bytes() const { return layout_.header.total_bytes; }

  // The address of row `arena_row` of a field. Field i is spec().fields[i]; up to batch_rows
  // consecutive rows are contiguous, also across the arena's end.
  std::byte* row(std::size_t field, std::uint64_t arena_row);
  // The same for a ragged field: row `row` of a slot, before finish_ragged.
  std::byte* ragged_row(std::size_t field, std::uint32_t slot, std::uint32_t row);
  // The words of a row that are not fields of the record.
  std::uint64_t* sample_ids(std::uint64_t arena_row);
  std::uint32_t* uses(std::uint64_t arena_row);
  std::uint32_t* row_flags(std::uint64_t arena_row);
  // Moves the rows of a ragged field in a slot together and writes their offsets. Each row was
  // written at ragged_row; `lengths_bytes` has one length per row, missing rows are empty.
  void finish_ragged(std::size_t field, std::uint32_t slot,
                     std::span<const std::uint64_t> lengths_bytes);
  // The same for rows that were written one after the other, from ragged_row(field, slot, 0) on.
  void write_offsets(std::size_t field, std::uint32_t slot,
                     std::span<const std::uint64_t> lengths_bytes);

  // Sets the sequence of the next descriptor, publishes it, wakes the readers, and returns the
  // sequence. The caller makes sure that fewer than descriptors_live are unreleased.
  std::uint64_t publish(shm::Descriptor descriptor);
  std::uint64_t published() const { return published_.load(std::memory_order_acquire); }
  // Call it before publishing any descriptor that the change affects, from one thread at a time.
  // The log holds at most kFactorLogEntries of the epochs that readers may still be in, and one
  // entry before these.
  void log_factor(const shm::FactorLogEntry& entry);
  // The same for weights; only with RingSpec::has_weights.
  void log_weights(const shm::WeightLogEntry& entry);

  // Every reader has released descriptors [0, released()). Does not change without readers.
  std::uint64_t released();
  // Sleeps until released() >= count, the deadline (monotonic_ns), or `interrupt`. Returns whether
  // the count was reached.
  bool wait_released(std::uint64_t count, std::uint64_t deadline_ns);
  void interrupt();

  // Adds a reader that starts at `first_sequence`, clamped to [released(), published()]; the result
  // has the clamped value. The slots from there on are held for the reader from the same moment on.
  // The reader never wants rows before `next` in the order.
  Result<Reader> add_reader(std::uint64_t first_sequence, plan::Position next = {});
  void remove_reader(std::uint64_t id);
  ReaderView view(std::uint64_t id) const;
  // No reader wants rows before this position; nothing without readers.
  std::optional<plan::Position> next_wanted() const;

  // Notifies the readers that no more batches follow.
  void end(shm::WriterState state);

  int data_fd() const { return fd_.get(); }  // owned by the ring

 private:
  Ring(const RingSpec& spec, Layout layout, UniqueFd fd, Mapping mapping);

  const RingSpec spec_;
  const Layout layout_;
  const UniqueFd fd_;
  const std::unique_ptr<const Mapping> mapping_;
  std::atomic<std::uint64_t> published_{0};
  const std::unique_ptr<Readers> readers_;   // refers to published_
  const std::unique_ptr<ReleaseWait> wait_;  // refers to *mapping_ and *readers_
};

}  // namespace echoline::ring
