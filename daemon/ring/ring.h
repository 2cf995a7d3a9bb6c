// The writer's side of one ring: creation, claim, publish, reclaim, and the cursors of its readers.
// Layout and protocol: proto/echoline/shm, docs/ring_format.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"
#include "decode/sample.h"
#include "echoline/shm/ring_layout.h"
#include "plan/position.h"

namespace echoline::ring {

struct RingSpec {
  std::vector<decode::FieldType> fields;  // every shape fixed, or ragged with its maximum
  std::uint32_t batch_rows = 1;
  std::uint32_t slot_count = 8;        // slots that hold rows; with batch echo: live + window
  std::uint32_t descriptors_live = 8;  // published and not released, at most
  shm::LastBatchPolicy last_batch = shm::kLastDrop;
  std::uint32_t flags = shm::kRingSealed;
  std::uint32_t plan_version = 1;
  std::uint64_t rows_per_epoch = 0;
  std::uint64_t records_per_epoch = 0;
  std::array<std::uint8_t, shm::kFingerprintBytes> fingerprint{};
  std::uint32_t factor = 1000;
  std::uint32_t echo_point = 0;
  std::uint64_t seed = 0;
};

// Bytes of shared memory that a ring of this spec takes.
std::uint64_t ring_bytes(const RingSpec& spec);

// What a reader's cursor page says, checked: claims that cannot be are `misbehaved`.
struct ReaderView {
  std::uint64_t released = 0;
  std::uint64_t waiting_since_ns = 0;
  std::uint64_t wait_ns = 0;
  std::uint64_t batches = 0;
  plan::Position next;  // of its next batch
  // What it left out last begins and ends here; the same place while that is nothing.
  plan::Position left_out_begin;
  plan::Position left_out_end;
  shm::DeviceFigures device;  // since it attached; all zero without a GPU
  bool misbehaved = false;
};

// Thread rules: one writer thread calls publish and wait_released; any thread calls the rest.
class Ring {
 public:
  // Reserves every page (a full memory is an error here, never a fault later), maps, and seals.
  static Result<std::unique_ptr<Ring>> create(const RingSpec& spec);
  virtual ~Ring() = default;

  virtual const RingSpec& spec() const = 0;
  virtual std::uint64_t bytes() const = 0;

  // Where row `arena_row` of a field stands. Field i is spec().fields[i]; consecutive rows are
  // contiguous for up to batch_rows rows, also across the arena's end. Ragged: `slot` and row
  // within it; see finish_ragged.
  virtual std::byte* row(std::size_t field, std::uint64_t arena_row) = 0;
  virtual std::byte* ragged_row(std::size_t field, std::uint32_t slot, std::uint32_t row) = 0;
  // Per-row words beside the fields.
  virtual std::uint64_t* sample_ids(std::uint64_t arena_row) = 0;
  virtual std::uint32_t* uses(std::uint64_t arena_row) = 0;
  virtual std::uint32_t* row_flags(std::uint64_t arena_row) = 0;
  // Moves the rows of a ragged field, written at their own places, together and writes the offsets.
  virtual void finish_ragged(std::size_t field, std::uint32_t slot,
                             std::span<const std::uint64_t> lengths_bytes) = 0;

  // Publishes the next descriptor (its sequence is set here) and wakes the readers.
  // The caller has made sure that fewer than descriptors_live are unreleased.
  virtual std::uint64_t publish(shm::Descriptor descriptor) = 0;
  virtual std::uint64_t published() const = 0;

  // What every reader has released: descriptors [0, released()). Without readers it stands still.
  virtual std::uint64_t released() = 0;
  // Sleeps until released() >= count, the deadline (monotonic_ns), or `interrupt`; says whether it
  // was reached.
  virtual bool wait_released(std::uint64_t count, std::uint64_t deadline_ns) = 0;
  virtual void interrupt() = 0;

  // A reader counts for reclaiming from the descriptor it starts at, in one step with its choice:
  // `first_sequence` is clamped to [released(), published()]; the value taken is in
  // `first_sequence`.
  struct Reader {
    std::uint64_t id = 0;
    std::uint64_t first_sequence = 0;
    int cursor_fd = -1;  // owned by the ring; valid until remove_reader
  };
  // It wants nothing that lies before `next` in the order.
  virtual Result<Reader> add_reader(std::uint64_t first_sequence, plan::Position next = {}) = 0;
  virtual void remove_reader(std::uint64_t id) = 0;
  virtual ReaderView view(std::uint64_t id) const = 0;
  // What lies before it in the order no reader wants any more; nothing without readers.
  virtual std::optional<plan::Position> next_wanted() const = 0;

  // Tells the readers that nothing more will come.
  virtual void end(shm::WriterState state) = 0;

  virtual int data_fd() const = 0;  // owned by the ring
};

}  // namespace echoline::ring
