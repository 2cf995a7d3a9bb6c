#include "plan/step_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/position.h"

namespace echoline::plan {

Result<std::vector<RowUse>> rows_of_step(const Plan& plan, std::uint32_t epoch, std::uint64_t step,
                                         std::uint32_t batch_size) {
  const PlanSpec& spec = plan.spec();
  const std::uint64_t size = batch_size == 0 ? spec.batch_rows : batch_size;
  if (spec.fixed_batches() && size != spec.batch_rows) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("a stream with {} has batches of {} only, {} was asked for",
                    spec.buckets == nullptr ? "batch echo" : "buckets", spec.batch_rows, size));
  }
  if (epoch >= kEpochsMax) {
    return Status(Code::kInvalidArgument, fmt::format("epoch {}: no stream reaches it", epoch));
  }
  const std::uint64_t epoch_rows = plan.rows_per_epoch();
  // Else a job may choose another batch size: its batches divide the same rows.
  const std::uint64_t steps =
      epoch_rows / size + (spec.last != LastBatch::kDrop && epoch_rows % size != 0 ? 1 : 0);
  if (step >= steps) {
    return Status(Code::kInvalidArgument,
                  fmt::format("step {}: with batches of {} an epoch has {}, counted from 0", step,
                              size, steps));
  }
  std::vector<RowUse> rows(std::min(size, epoch_rows - step * size));
  plan.epoch(epoch, {})->read(step * size, rows);
  std::erase_if(rows, [](const RowUse& row) { return !row.valid; });
  return rows;
}

}  // namespace echoline::plan
