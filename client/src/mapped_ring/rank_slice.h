// Which rows of a batch a rank gets: integer arithmetic only (docs/semantics.md, "Rows" and "The
// last batch").
#pragma once

#include <cstdint>

#include "echoline/shm/ring_layout.h"

namespace echoline::client {

// How a job divides the stream's rows into batches, and which rank of the job this trainer is.
struct RankSlice {
  std::uint64_t batch_size = 1;  // of all ranks together; a multiple of world_size
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  shm::LastBatchPolicy last = shm::kLastDrop;
};

// The rows of one batch that one rank gets. Rows are counted from the first row of the batch.
struct RankRows {
  std::uint64_t begin = 0;  // own rows [begin, end) are in the ring
  std::uint64_t end = 0;
  std::uint64_t rows = 0;    // given to the trainer; 0: the batch is dropped
  std::uint64_t source = 0;  // the row to repeat if there are no own rows
  std::uint64_t valid() const { return end - begin; }
  // The trainer gets more rows than its own: repeats fill up a copy in private memory.
  bool padded() const { return rows > end - begin; }
  // The rows [first_row, last_row) must be published before the batch can be given out.
  std::uint64_t first_row() const { return valid() > 0 ? begin : source; }
  std::uint64_t last_row() const { return valid() > 0 ? end : source + 1; }
};

// The rows of this rank in a batch of `valid` rows, 1 <= valid <= batch_size. Only the last batch
// of an epoch has fewer than batch_size.
RankRows rank_rows(const RankSlice& slice, std::uint64_t valid);

// The number of batches from `row` to the end of an epoch of `epoch_rows` rows.
std::uint64_t steps_between(const RankSlice& slice, std::uint64_t row, std::uint64_t epoch_rows);

}  // namespace echoline::client
