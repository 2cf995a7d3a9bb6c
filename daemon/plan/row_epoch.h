// One epoch of a stream without echo, or with an echo step that repeats records.
#pragma once

#include <memory>
#include <vector>

#include "plan/echo_order.h"
#include "plan/epoch_plan.h"
#include "plan/item_order.h"
#include "plan/lanes.h"
#include "plan/step_echo.h"
#include "plan/stream_order.h"

namespace echoline::plan {

// Immutable; any thread may call it.
class RowEpoch : public EpochPlan {
 public:
  // `factors` is the result of whole_list; empty without echo, and where the uses of a record are
  // within a step.
  RowEpoch(std::shared_ptr<const StreamOrder> stream, std::uint32_t epoch,
           std::span<const FactorChange> factors, std::span<const WeightChange> weights);

  std::uint64_t rows() const override { return grid_.rows(); }
  RowUse at(std::uint64_t row) const override;
  void read(std::uint64_t row, std::span<RowUse> out) const override;
  RowUse batch_at(std::uint64_t step) const override;
  BatchForm form(std::uint64_t) const override { return {.rows = stream_->spec.batch_rows}; }
  std::uint32_t valid_rows(std::uint64_t step) const override;
  std::uint64_t next_block(std::uint64_t row) const override;
  std::uint64_t next_item(std::uint64_t row) const override;

 private:
  class LaneWalk;

  bool echoes() const { return !echo_.empty(); }
  ItemUse item_at(const LaneRow& where) const;
  // How many items of a lane its first rows can have.
  std::uint64_t items_before(const LaneRow& where) const;
  RowUse row_use(const ListEntry& entry, const ItemUse& use) const {
    return {.record = entry.record,
            .use = use.use,
            .uses = use.uses,
            .first_draw = entry.repeat * stream_->draws_per_item,
            .window = entry.window};
  }
  // The rows in whole rounds of the lanes, and the rows after these.
  void read_even(std::uint64_t row, std::span<RowUse> out) const;
  void read_uneven(std::uint64_t row, std::span<RowUse> out) const;

  std::shared_ptr<const StreamOrder> stream_;
  ItemOrder order_;
  std::vector<EchoOrder> echo_;        // by lane; empty without echo
  std::vector<StepEcho> within_step_;  // by lane, instead of these; else empty
  LaneGrid grid_;
};

}  // namespace echoline::plan
