// One epoch under batch echo: whole batches of the unechoed order are repeated.
#pragma once

#include <memory>

#include "plan/echo_order.h"
#include "plan/epoch_plan.h"
#include "plan/row_epoch.h"
#include "plan/stream_order.h"

namespace echoline::plan {

// Immutable, any thread.
class BatchEpoch : public EpochPlan {
 public:
  BatchEpoch(const std::shared_ptr<const StreamOrder>& stream, std::uint32_t epoch,
             std::span<const FactorChange> factors);

  std::uint64_t rows() const override { return echo_.rows() * batch_rows_; }
  RowUse at(std::uint64_t row) const override;
  void read(std::uint64_t row, std::span<RowUse> out) const override;
  RowUse batch_at(std::uint64_t step) const override;
  std::uint32_t valid_rows(std::uint64_t step) const override;
  std::uint64_t next_block(std::uint64_t row) const override;

 private:
  // Valid rows of a fresh batch.
  std::uint32_t batch_size(std::uint64_t batch) const;
  void read_batch(const ItemUse& batch, std::uint64_t first, std::span<RowUse> out) const;

  std::uint32_t batch_rows_;
  RowEpoch fresh_;
  EchoOrder echo_;
};

}  // namespace echoline::plan
