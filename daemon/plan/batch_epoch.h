// One epoch under batch echo: the order repeats whole batches of the order without echo.
#pragma once

#include <memory>

#include "plan/echo_order.h"
#include "plan/epoch_plan.h"
#include "plan/stream_order.h"

namespace echoline::plan {

// Immutable; any thread may call it.
class BatchEpoch : public EpochPlan {
 public:
  // `fresh` is the order without echo.
  BatchEpoch(const StreamOrder& stream, std::uint32_t epoch, std::unique_ptr<EpochPlan> fresh,
             std::span<const FactorChange> factors);

  std::uint64_t rows() const override { return echo_.rows() * batch_rows_; }
  RowUse at(std::uint64_t row) const override;
  void read(std::uint64_t row, std::span<RowUse> out) const override;
  RowUse batch_at(std::uint64_t step) const override;
  BatchForm form(std::uint64_t step) const override;
  std::uint32_t valid_rows(std::uint64_t step) const override;
  std::uint64_t next_block(std::uint64_t row) const override;
  std::uint64_t next_item(std::uint64_t row) const override;

 private:
  // The number of valid rows of a fresh batch.
  std::uint32_t batch_size(std::uint64_t batch) const;
  // Fills `out` with rows of one use of a batch, from its row `first` on.
  void read_batch(const ItemUse& batch, std::uint64_t first, std::span<RowUse> out) const;

  std::uint32_t batch_rows_;
  std::unique_ptr<EpochPlan> fresh_;
  EchoOrder echo_;  // its items are the fresh batches
};

}  // namespace echoline::plan
