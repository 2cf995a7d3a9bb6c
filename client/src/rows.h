// Which rows a rank gets of which batch: arithmetic on integers, nothing else (semantics.md,
// Rows and The last batch).
#pragma once

#include <cstdint>

#include "echoline/shm/ring_layout.h"

namespace echoline::client {

// How a job cuts the stream's rows.
struct Cut {
  std::uint64_t batch_size = 1;  // of all ranks together; a multiple of world_size
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  shm::LastBatchPolicy last = shm::kLastDrop;
};

// One rank's rows of one batch. Rows are counted from the batch's first.
struct Slice {
  std::uint64_t begin = 0;  // own rows [begin, end) stand in the ring
  std::uint64_t end = 0;
  std::uint64_t rows = 0;    // given to the trainer; 0: the batch is dropped
  std::uint64_t source = 0;  // which row fills up, when there are no own rows
  std::uint64_t valid() const { return end - begin; }
  // More rows than its own: it must be assembled in private memory.
  bool padded() const { return rows > end - begin; }
  // First and past-the-last row of the batch that must stand before it can be given out.
  std::uint64_t first_row() const { return valid() > 0 ? begin : source; }
  std::uint64_t last_row() const { return valid() > 0 ? end : source + 1; }
};

// The slice of a batch that has `valid` rows, 1 <= valid <= batch_size.
Slice slice_of(const Cut& cut, std::uint64_t valid);

// Batches from `row` to the epoch's end.
std::uint64_t steps_between(const Cut& cut, std::uint64_t row, std::uint64_t epoch_rows);

}  // namespace echoline::client
