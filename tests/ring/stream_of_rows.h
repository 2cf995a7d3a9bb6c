// Writes rows whose content only depends on their number, and checks what a reader sees of them.
#pragma once

#include <cstdint>

#include "echoline/shm/futex.h"
#include "ring/ring.h"
#include "small_ring.h"
#include "trainer.h"

namespace echoline::ring {

// Word i of row r of the only field ("words", uint64 [16]).
inline std::uint64_t word_of(std::uint64_t row, std::uint64_t i) {
  return (row * 16 + i) * 0x9E3779B97F4A7C15;
}

inline RingSpec words_spec(std::uint32_t slots, std::uint32_t rows) {
  RingSpec spec = small_spec(slots, rows);
  spec.fields = {field("words", shm::kUint64, {16})};
  return spec;
}

// Publishes batches [first, end), and waits for slots. False if a slot is not released in time.
inline bool write_rows(Ring& ring, std::uint64_t first, std::uint64_t end,
                       std::uint64_t slot_timeout_ns) {
  const std::uint64_t rows = ring.spec().batch_rows;
  for (std::uint64_t s = first; s < end; ++s) {
    const std::uint64_t slots = ring.spec().slot_count;
    if (s >= slots && !ring.wait_released(s - slots + 1, shm::futex_clock_ns() + slot_timeout_ns))
      return false;
    auto* words = reinterpret_cast<std::uint64_t*>(ring.row(0, s * rows));
    for (std::uint64_t i = 0; i < rows * 16; ++i) words[i] = word_of(s * rows + i / 16, i % 16);
    shm::Descriptor descriptor{};
    descriptor.row = descriptor.arena_row = s * rows;
    (void)ring.publish(descriptor);
  }
  return true;
}

// Whether the rows have the content that belongs to this descriptor.
inline bool rows_match(const Trainer& trainer, const shm::Descriptor& descriptor) {
  const std::uint64_t rows = trainer.header().batch_rows;
  const auto* words = reinterpret_cast<const std::uint64_t*>(trainer.row(0, descriptor.arena_row));
  for (std::uint64_t i = 0; i < rows * 16; ++i)
    if (words[i] != word_of(descriptor.row + i / 16, i % 16)) return false;
  return true;
}

}  // namespace echoline::ring
