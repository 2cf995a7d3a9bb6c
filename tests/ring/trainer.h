// A reader of a ring like a real trainer: it only has the file descriptors, its own mappings and
// the shared cursor steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "echoline/shm/ring_layout.h"

namespace echoline::ring {

// One thread. Owns its mappings, not the descriptors. Aborts the test if a mapping fails.
class Trainer {
 public:
  Trainer(int data_fd, int cursor_fd, std::uint64_t first_sequence);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;
  ~Trainer();

  // A copy of the next descriptor; nothing at the end of the ring or after the timeout.
  std::optional<shm::Descriptor> next(std::uint64_t timeout_ns = 10'000'000'000);
  // Releases all batches so far.
  void release();

  const shm::RingHeader& header() const { return *reinterpret_cast<const shm::RingHeader*>(base_); }
  const shm::WriterPage& writer() const;
  const shm::FieldEntry& entry(std::size_t field) const;
  // The rows of a fixed field, starting at this arena row: batch_rows of them are contiguous.
  const std::byte* row(std::size_t field, std::uint64_t arena_row) const;
  const std::byte* section(const shm::Section& section) const { return base_ + section.offset; }
  shm::CursorPage& cursor() { return *cursor_; }

 private:
  const std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  shm::CursorPage* cursor_ = nullptr;
  std::vector<std::byte*> arenas_;
  std::uint64_t next_;
};

}  // namespace echoline::ring
