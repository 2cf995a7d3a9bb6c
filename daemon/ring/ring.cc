#include "ring/ring.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "echoline/shm/cursor_steps.h"
#include "ring/memory.h"
#include "ring/shared_ring.h"

namespace echoline::ring {
namespace {

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
  const bool sealed = (spec.flags & shm::kRingSealed) != 0;
  ECHOLINE_TRY(seal_shared_memory(fd.get(), sealed ? Sealing::kWrite : Sealing::kSize));
  return std::unique_ptr<Ring>(
      std::make_unique<SharedRing>(spec, std::move(layout), std::move(fd), std::move(mapping)));
}

SharedRing::SharedRing(RingSpec spec, Layout layout, UniqueFd fd, Mapping mapping)
    : spec_(std::move(spec)),
      layout_(std::move(layout)),
      fd_(std::move(fd)),
      mapping_(std::move(mapping)) {}

std::byte* SharedRing::row(std::size_t field, std::uint64_t arena_row) {
  const shm::FieldEntry& entry = layout_.fields[field];
  return mapping_.arena(field) + shm::arena_position(entry.arena.bytes, entry.row_bytes, arena_row);
}

std::uint64_t* SharedRing::sample_ids(std::uint64_t arena_row) {
  return reinterpret_cast<std::uint64_t*>(row(layout_.sample_id_field(), arena_row));
}

std::uint32_t* SharedRing::uses(std::uint64_t arena_row) {
  return reinterpret_cast<std::uint32_t*>(row(layout_.use_field(), arena_row));
}

std::uint32_t* SharedRing::row_flags(std::uint64_t arena_row) {
  return reinterpret_cast<std::uint32_t*>(row(layout_.flags_field(), arena_row));
}

std::uint64_t SharedRing::publish(shm::Descriptor descriptor) {
  const std::uint64_t sequence = published_.load(std::memory_order_relaxed);
  // More would write over a descriptor that somebody reads.
  ECHOLINE_CHECK(sequence - released() < spec_.descriptors_live);
  descriptor.sequence = sequence;
  descriptor.published_ns = monotonic_ns();
  mapping_.descriptors()[sequence % layout_.header.descriptor_count] = descriptor;
  // First here: a quick reader's claim is measured against it.
  published_.store(sequence + 1, std::memory_order_release);
  shm::WriterPage& writer = mapping_.writer();
  shm::write_published(writer, sequence + 1);
  shm::ring_writer_bell(writer);
  if (readers_.any_waits()) shm::futex_wake_all(&writer.bell);
  return sequence;
}

Result<Ring::Reader> SharedRing::add_reader(std::uint64_t first_sequence, plan::Position next) {
  Result<Reader> reader = readers_.add(first_sequence, next);
  announce_change();
  return reader;
}

void SharedRing::remove_reader(std::uint64_t id) {
  readers_.remove(id);
  announce_change();
}

void SharedRing::end(shm::WriterState state) {
  shm::WriterPage& writer = mapping_.writer();
  shm::write_state(writer, state);
  shm::ring_writer_bell(writer);
  shm::futex_wake_all(&writer.bell);
}

}  // namespace echoline::ring
