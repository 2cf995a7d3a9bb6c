#include "ring/ring.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "echoline/shm/cursor_steps.h"
#include "ring/mapping.h"
#include "ring/memory.h"
#include "ring/readers.h"
#include "ring/release_wait.h"

namespace echoline::ring {
namespace {

// The parts that never change, and the first state of the writer.
void write_front(const Mapping& mapping, const Layout& layout) {
  mapping.header() = layout.header;
  std::copy(layout.fields.begin(), layout.fields.end(), mapping.fields());
  shm::write_state(mapping.writer(), shm::kWriterRunning);
}

}  // namespace

Result<std::unique_ptr<Ring>> Ring::create(const RingSpec& spec) {
  ECHOLINE_ASSIGN(Layout layout, compute_layout(spec));
  ECHOLINE_ASSIGN(UniqueFd fd, make_shared_memory("echoline-ring", layout.header.total_bytes));
  ECHOLINE_ASSIGN(Mapping mapping, Mapping::map(fd.get(), layout));
  write_front(mapping, layout);
  // The seal against writing comes last: it allows the mappings that exist, but no new ones.
  const bool sealed = (spec.flags & shm::kRingSealed) != 0;
  ECHOLINE_TRY(seal_shared_memory(fd.get(), sealed ? Sealing::kWrite : Sealing::kSize));
  return std::unique_ptr<Ring>(
      new Ring(spec, std::move(layout), std::move(fd), std::move(mapping)));
}

Ring::Ring(const RingSpec& spec, Layout layout, UniqueFd fd, Mapping mapping)
    : spec_(spec),
      layout_(std::move(layout)),
      fd_(std::move(fd)),
      mapping_(std::make_unique<const Mapping>(std::move(mapping))),
      readers_(std::make_unique<Readers>(published_)),
      wait_(std::make_unique<ReleaseWait>(*readers_, mapping_->writer())) {}

Ring::~Ring() = default;

std::byte* Ring::row(std::size_t field, std::uint64_t arena_row) {
  const shm::FieldEntry& entry = layout_.fields[field];
  // Rows that cross the end of the arena are contiguous, because it is mapped twice in a row.
  return mapping_->arena(field) +
         shm::arena_position(entry.arena.bytes, entry.row_bytes, arena_row);
}

std::byte* Ring::ragged_row(std::size_t field, std::uint32_t slot, std::uint32_t row) {
  const std::uint64_t index = std::uint64_t{slot} * spec_.batch_rows + row;
  return mapping_->arena(field) + index * layout_.fields[field].row_bytes;
}

std::uint64_t* Ring::sample_ids(std::uint64_t arena_row) {
  return reinterpret_cast<std::uint64_t*>(row(layout_.sample_id_field(), arena_row));
}

std::uint32_t* Ring::uses(std::uint64_t arena_row) {
  return reinterpret_cast<std::uint32_t*>(row(layout_.use_field(), arena_row));
}

std::uint32_t* Ring::row_flags(std::uint64_t arena_row) {
  return reinterpret_cast<std::uint32_t*>(row(layout_.flags_field(), arena_row));
}

void Ring::finish_ragged(std::size_t field, std::uint32_t slot,
                         std::span<const std::uint64_t> lengths_bytes) {
  write_offsets(field, slot, lengths_bytes);
  std::byte* const values = ragged_row(field, slot, 0);
  std::uint64_t end = 0;
  for (std::uint32_t row = 0; row < lengths_bytes.size(); ++row) {
    const std::uint64_t bytes = lengths_bytes[row];
    // A row only moves down, over rows that have moved before. Its source and its destination can
    // overlap, so this is memmove.
    if (bytes != 0) std::memmove(values + end, ragged_row(field, slot, row), bytes);
    end += bytes;
  }
}

void Ring::write_offsets(std::size_t field, std::uint32_t slot,
                         std::span<const std::uint64_t> lengths_bytes) {
  ECHOLINE_CHECK(slot < spec_.slot_count && lengths_bytes.size() <= spec_.batch_rows);
  const shm::FieldEntry& entry = layout_.fields[field];
  const std::uint64_t inner_bytes = spec_.fields[field].inner_bytes();
  // Each slot has batch_rows + 1 offsets.
  std::uint64_t* const offsets =
      mapping_->offsets(field) + slot * (std::uint64_t{spec_.batch_rows} + 1);
  std::uint64_t end = 0;
  // Rows that are missing in a short batch get an empty range.
  for (std::uint32_t row = 0; row < spec_.batch_rows; ++row) {
    const std::uint64_t bytes = row < lengths_bytes.size() ? lengths_bytes[row] : 0;
    ECHOLINE_CHECK(bytes <= entry.row_bytes && bytes % inner_bytes == 0);
    offsets[row] = end;
    end += bytes;
  }
  offsets[spec_.batch_rows] = end;
}

std::uint64_t Ring::publish(shm::Descriptor descriptor) {
  const std::uint64_t sequence = published_.load(std::memory_order_relaxed);
  // One more would overwrite a descriptor that a reader may be reading.
  ECHOLINE_CHECK(sequence - released() < spec_.descriptors_live);
  descriptor.sequence = sequence;
  descriptor.published_ns = monotonic_ns();
  // descriptor_count is a power of two, at least descriptors_live: the place is free.
  mapping_->descriptors()[sequence % layout_.header.descriptor_count] = descriptor;
  // Raised before the readers can see the descriptor: a quick reader may release it at once, and
  // its claim is compared with published_.
  published_.store(sequence + 1, std::memory_order_release);
  shm::WriterPage& writer = mapping_->writer();
  // The order: descriptor, count, bell. A reader that sees the count also sees the descriptor.
  shm::write_published(writer, sequence + 1);
  shm::ring_writer_bell(writer);
  // Only if a reader sleeps: a wake is a system call.
  if (readers_->any_waits()) shm::futex_wake_all(&writer.bell);
  return sequence;
}

void Ring::log_factor(const shm::FactorLogEntry& entry) {
  shm::write_change(mapping_->factor_log(), entry);
}

void Ring::log_weights(const shm::WeightLogEntry& entry) {
  ECHOLINE_CHECK(spec_.has_weights);
  shm::write_change(mapping_->weight_log(), entry);
}

std::uint64_t Ring::released() { return readers_->released(); }

bool Ring::wait_released(std::uint64_t count, std::uint64_t deadline_ns) {
  return wait_->wait(count, deadline_ns);
}

void Ring::interrupt() { wait_->interrupt(); }

Result<Reader> Ring::add_reader(std::uint64_t first_sequence, plan::Position next) {
  Result<Reader> reader = readers_->add(first_sequence, next);
  // The writer may sleep on the cursor of another reader, or on none.
  wait_->announce_change();
  return reader;
}

void Ring::remove_reader(std::uint64_t id) {
  readers_->remove(id);
  wait_->announce_change();
}

ReaderView Ring::view(std::uint64_t id) const { return readers_->view(id); }

std::optional<plan::Position> Ring::next_wanted() const { return readers_->next_wanted(); }

void Ring::end(shm::WriterState state) {
  // State before bell: a reader that wakes up finds the state.
  shm::WriterPage& writer = mapping_->writer();
  shm::write_state(writer, state);
  shm::ring_writer_bell(writer);
  shm::futex_wake_all(&writer.bell);
}

}  // namespace echoline::ring
