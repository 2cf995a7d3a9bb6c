// Equal parts of the valid rows, so that ranks concatenated are the batch, and equal shapes where
// asked.
#include "plan/slice.h"

#include <algorithm>
#include <string>

#include "base/check.h"

namespace echoline::plan {
namespace {

std::uint32_t share(std::uint32_t rank, std::uint32_t rows, std::uint32_t world_size) {
  return static_cast<std::uint32_t>(std::uint64_t{rank} * rows / world_size);
}

}  // namespace

Status check_job(const JobShape& job, std::uint32_t rank) {
  if (job.batch_rows == 0) return Status(Code::kInvalidArgument, "batch_size must be at least 1");
  if (job.world_size == 0) return Status(Code::kInvalidArgument, "world_size must be at least 1");
  if (rank >= job.world_size) {
    return Status(Code::kInvalidArgument, "rank " + std::to_string(rank) +
                                              " is not below world_size " +
                                              std::to_string(job.world_size));
  }
  if (job.batch_rows % job.world_size != 0) {
    return Status(Code::kInvalidArgument, "world_size " + std::to_string(job.world_size) +
                                              " does not divide the global batch of " +
                                              std::to_string(job.batch_rows) +
                                              " rows; take another batch_size");
  }
  return {};
}

std::uint64_t step_count(const JobShape& job, std::uint64_t rows, std::uint64_t first_row) {
  const std::uint64_t left = rows - std::min(first_row, rows);
  const std::uint64_t whole = left / job.batch_rows;
  const bool short_one = job.last != LastBatch::kDrop && left % job.batch_rows > 0;
  return whole + (short_one ? 1 : 0);
}

std::uint32_t rows_of_step(const JobShape& job, std::uint64_t rows, std::uint64_t step,
                           std::uint64_t first_row) {
  ECHOLINE_CHECK(step < step_count(job, rows, first_row));
  const std::uint64_t left = rows - first_row - step * job.batch_rows;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(left, job.batch_rows));
}

std::uint32_t RankSlice::source_row(std::uint32_t row) const {
  if (row < valid()) return begin + row;
  return valid() == 0 ? 0 : begin + (row - valid()) % valid();
}

RankSlice slice_of(const JobShape& job, std::uint32_t rank, std::uint32_t valid_rows) {
  ECHOLINE_CHECK(rank < job.world_size && valid_rows > 0 && valid_rows <= job.batch_rows);
  RankSlice slice{.begin = share(rank, valid_rows, job.world_size),
                  .end = share(rank + 1, valid_rows, job.world_size)};
  const bool fills = job.last == LastBatch::kPad || valid_rows < job.world_size;
  if (fills) slice.repeats = job.batch_rows / job.world_size - slice.valid();
  return slice;
}

}  // namespace echoline::plan
