// How a row becomes a record: the grid gives lane and lane row, the echo order gives the item, the
// order of the items gives the record.
#include "plan/row_epoch.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "plan/echo_walk.h"

namespace echoline::plan {
namespace {

std::vector<EchoOrder> echo_orders(const StreamOrder& stream, std::uint32_t epoch,
                                   std::span<const FactorChange> factors) {
  std::vector<EchoOrder> orders;
  if (factors.empty()) return orders;
  orders.reserve(stream.spec.lanes);
  for (std::uint32_t lane = 0; lane < stream.spec.lanes; ++lane) {
    orders.emplace_back(stream.shape,
                        EchoOrder::LaneInEpoch{.seed = stream.spec.seed,
                                               .epoch = epoch,
                                               .lane = lane,
                                               .lane_begin = stream.lanes.begin(lane),
                                               .items = stream.lanes.size(lane)},
                        factors);
  }
  return orders;
}

std::vector<StepEcho> step_echoes(const StreamOrder& stream) {
  std::vector<StepEcho> lanes;
  if (!stream.spec.within_step) return lanes;
  lanes.reserve(stream.spec.lanes);
  for (std::uint32_t lane = 0; lane < stream.spec.lanes; ++lane) {
    lanes.emplace_back(stream.lanes.size(lane), stream.spec.batch_rows / stream.spec.lanes,
                       stream.spec.factor / 1000);
  }
  return lanes;
}

LaneGrid lane_grid(const StreamOrder& stream, const std::vector<EchoOrder>& echo,
                   const std::vector<StepEcho>& within_step) {
  std::vector<std::uint64_t> rows;
  rows.reserve(stream.spec.lanes);
  for (std::uint32_t lane = 0; lane < stream.spec.lanes; ++lane) {
    rows.push_back(!within_step.empty() ? within_step[lane].rows()
                   : !echo.empty()      ? echo[lane].rows()
                                        : stream.lanes.size(lane));
  }
  return LaneGrid(stream.spec.batch_rows / stream.spec.lanes, std::move(rows));
}

}  // namespace

// Walks one lane, starting at one of its rows. One thread.
class RowEpoch::LaneWalk {
 public:
  LaneWalk(const RowEpoch& epoch, std::uint32_t lane, std::uint64_t lane_row)
      : epoch_(epoch), where_{lane, lane_row} {
    if (epoch.echoes()) echo_.emplace(epoch.echo_[lane], lane_row);
  }

  RowUse next() {
    const ItemUse use = echo_ ? echo_->next() : epoch_.item_at(where_);
    ++where_.row;
    return epoch_.row_use(epoch_.order_.entry(where_.lane, use.item, memory_), use);
  }

 private:
  const RowEpoch& epoch_;
  LaneRow where_;
  std::optional<EchoWalk> echo_;
  ItemOrder::Memory memory_;
};

RowEpoch::RowEpoch(std::shared_ptr<const StreamOrder> stream, std::uint32_t epoch,
                   std::span<const FactorChange> factors, std::span<const WeightChange> weights)
    : stream_(std::move(stream)),
      order_(*stream_, epoch, weights),
      echo_(echo_orders(*stream_, epoch, factors)),
      within_step_(step_echoes(*stream_)),
      grid_(lane_grid(*stream_, echo_, within_step_)) {}

ItemUse RowEpoch::item_at(const LaneRow& where) const {
  if (!within_step_.empty()) return within_step_[where.lane].at(where.row);
  return echoes() ? echo_[where.lane].at(where.row) : ItemUse{.item = where.row};
}

RowUse RowEpoch::at(std::uint64_t row) const {
  const LaneRow where = grid_.locate(row);
  const ItemUse use = item_at(where);
  ItemOrder::Memory memory;
  return row_use(order_.entry(where.lane, use.item, memory), use);
}

void RowEpoch::read(std::uint64_t row, std::span<RowUse> out) const {
  ECHOLINE_CHECK(row <= rows() && out.size() <= rows() - row);
  const std::uint64_t even =
      row < grid_.even_rows() ? std::min<std::uint64_t>(out.size(), grid_.even_rows() - row) : 0;
  read_even(row, out.first(even));
  read_uneven(row + even, out.subspan(even));
}

// Lane by lane, not batch by batch: each lane searches its start once, then fills its chunks of all
// batches.
void RowEpoch::read_even(std::uint64_t row, std::span<RowUse> out) const {
  const std::uint64_t chunk = grid_.chunk_rows();
  const std::uint64_t round = chunk * grid_.lanes();
  const std::uint64_t end = row + out.size();
  for (std::uint32_t lane = 0; lane < grid_.lanes(); ++lane) {
    std::uint64_t lane_row = grid_.lane_rows_before(row, lane);
    const std::uint64_t lane_end = grid_.lane_rows_before(end, lane);
    if (lane_row == lane_end) continue;
    LaneWalk walk(*this, lane, lane_row);
    while (lane_row < lane_end) {
      const std::uint64_t in_chunk = lane_row % chunk;
      const std::uint64_t count = std::min(chunk - in_chunk, lane_end - lane_row);
      const std::uint64_t first = lane_row / chunk * round + lane * chunk + in_chunk - row;
      for (std::uint64_t i = 0; i < count; ++i) out[first + i] = walk.next();
      lane_row += count;
    }
  }
}

void RowEpoch::read_uneven(std::uint64_t row, std::span<RowUse> out) const {
  while (!out.empty()) {
    const LaneRow where = grid_.locate(row);
    const std::uint64_t count = std::min<std::uint64_t>(out.size(), grid_.run(row));
    LaneWalk walk(*this, where.lane, where.row);
    for (RowUse& use : out.first(count)) use = walk.next();
    out = out.subspan(count);
    row += count;
  }
}

RowUse RowEpoch::batch_at(std::uint64_t step) const { return {.record = step}; }

std::uint32_t RowEpoch::valid_rows(std::uint64_t step) const {
  const std::uint64_t batch_rows = stream_->spec.batch_rows;
  ECHOLINE_CHECK(step <= rows() / batch_rows);
  return static_cast<std::uint32_t>(std::min(batch_rows, rows() - step * batch_rows));
}

std::uint64_t RowEpoch::next_block(std::uint64_t row) const {
  std::uint64_t next = 0;
  for (std::uint32_t lane = 0; lane < echo_.size(); ++lane) {
    next = std::max(next, echo_[lane].next_block(grid_.lane_rows_before(row, lane)));
  }
  return next;
}

std::uint64_t RowEpoch::items_before(const LaneRow& where) const {
  if (!within_step_.empty()) return within_step_[where.lane].items_before(where.row);
  if (!echoes()) return where.row;
  const EchoOrder& echo = echo_[where.lane];
  return echo.blocks().begin(echo.next_block(where.row));
}

std::uint64_t RowEpoch::next_item(std::uint64_t row) const {
  ECHOLINE_CHECK(stream_->mixture != nullptr);
  std::uint64_t next = 0;
  for (std::uint32_t lane = 0; lane < grid_.lanes(); ++lane) {
    const std::uint64_t items = items_before({lane, grid_.lane_rows_before(row, lane)});
    if (items > 0) next = std::max(next, stream_->list_rows->row_of({lane, items - 1}) + 1);
  }
  return next;
}

}  // namespace echoline::plan
