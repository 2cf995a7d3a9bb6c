// What a rank gets of a batch, and how many steps an epoch has: the last batch's rules as
// arithmetic.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "plan/plan.h"

namespace echoline::plan {

// A job as its rows are cut: its own global batch, its ranks, and what becomes of a short last
// batch.
struct JobShape {
  std::uint32_t batch_rows = 1;
  std::uint32_t world_size = 1;
  LastBatch last = LastBatch::kDrop;
};

// kInvalidArgument where the world size does not divide the batch, or a number is out of range.
Status check_job(const JobShape& job, std::uint32_t rank);

// Steps from `first_row` to the end of an epoch of `rows` rows; the same for every rank.
std::uint64_t step_count(const JobShape& job, std::uint64_t rows, std::uint64_t first_row = 0);

// Rows that step `step` (counted from `first_row`) has of the epoch; under drop always batch_rows.
std::uint32_t rows_of_step(const JobShape& job, std::uint64_t rows, std::uint64_t step,
                           std::uint64_t first_row = 0);

// A rank's part of a batch: rows [begin, end) of its valid rows, then `repeats` rows that only fill
// up.
struct RankSlice {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t repeats = 0;

  std::uint32_t valid() const { return end - begin; }
  std::uint32_t rows() const { return valid() + repeats; }
  // The batch's row that the slice's row `row` shows; from row valid() on these are repeats: the
  // rank's own rows in turn, or the batch's first where it has none.
  std::uint32_t source_row(std::uint32_t row) const;
};

// Of a batch with `valid_rows` valid rows, at least one and at most batch_rows.
RankSlice slice_of(const JobShape& job, std::uint32_t rank, std::uint32_t valid_rows);

}  // namespace echoline::plan
