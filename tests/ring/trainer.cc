#include "trainer.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdlib>

#include "base/check.h"
#include "echoline/shm/cursor_steps.h"

namespace echoline::ring {
namespace {

void* map(void* address, std::size_t bytes, int protection, int flags, int fd,
          std::uint64_t offset) {
  void* place = mmap(address, bytes, protection, flags, fd, static_cast<off_t>(offset));
  ECHOLINE_CHECK(place != MAP_FAILED);
  return place;
}

std::byte* map_twice(int fd, const shm::Section& arena) {
  auto* start = static_cast<std::byte*>(
      map(nullptr, 2 * arena.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  map(start, arena.bytes, PROT_READ, MAP_SHARED | MAP_FIXED, fd, arena.offset);
  map(start + arena.bytes, arena.bytes, PROT_READ, MAP_SHARED | MAP_FIXED, fd, arena.offset);
  return start;
}

}  // namespace

Trainer::Trainer(int data_fd, int cursor_fd, std::uint64_t first_sequence) : next_(first_sequence) {
  struct stat status {};
  ECHOLINE_CHECK(fstat(data_fd, &status) == 0);
  bytes_ = static_cast<std::size_t>(status.st_size);
  base_ = static_cast<const std::byte*>(map(nullptr, bytes_, PROT_READ, MAP_SHARED, data_fd, 0));
  cursor_ = static_cast<shm::CursorPage*>(
      map(nullptr, shm::kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, cursor_fd, 0));
  for (std::uint32_t i = 0; i < header().field_count; ++i)
    arenas_.push_back(entry(i).kind == shm::kFieldFixed ? map_twice(data_fd, entry(i).arena)
                                                        : nullptr);
}

Trainer::~Trainer() {
  for (std::size_t i = 0; i < arenas_.size(); ++i)
    if (arenas_[i] != nullptr) munmap(arenas_[i], 2 * entry(i).arena.bytes);
  munmap(cursor_, shm::kPageBytes);
  munmap(const_cast<std::byte*>(base_), bytes_);
}

const shm::WriterPage& Trainer::writer() const {
  return *reinterpret_cast<const shm::WriterPage*>(section(header().writer));
}

const shm::FieldEntry& Trainer::entry(std::size_t field) const {
  return reinterpret_cast<const shm::FieldEntry*>(section(header().fields))[field];
}

const std::byte* Trainer::row(std::size_t field, std::uint64_t arena_row) const {
  const shm::FieldEntry& at = entry(field);
  return arenas_[field] + shm::arena_position(at.arena.bytes, at.row_bytes, arena_row);
}

std::optional<shm::Descriptor> Trainer::next(std::uint64_t timeout_ns) {
  const std::uint64_t deadline = shm::futex_clock_ns() + timeout_ns;
  bool waiting = false;
  std::optional<shm::Descriptor> found;
  while (true) {
    const std::uint32_t state = shm::read_state(writer());
    const std::uint64_t published = shm::read_published(writer());
    if (published > next_) {
      const auto* ring = reinterpret_cast<const shm::Descriptor*>(section(header().descriptors));
      found = ring[next_++ % header().descriptor_count];
      break;
    }
    if (state != shm::kWriterRunning || shm::futex_clock_ns() >= deadline) break;
    if (!waiting) shm::begin_wait(*cursor_, shm::futex_clock_ns());
    waiting = true;
    shm::sleep_for_publish(writer(), published, deadline);
  }
  if (waiting) shm::end_wait(*cursor_, shm::futex_clock_ns());
  return found;
}

void Trainer::release() { shm::release(writer(), *cursor_, next_); }

}  // namespace echoline::ring
