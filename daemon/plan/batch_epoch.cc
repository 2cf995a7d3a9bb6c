// Two orders, one on top of the other: an echo order whose items are the batches of an epoch in
// which each record is used once.
#include "plan/batch_epoch.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "plan/echo_walk.h"

namespace echoline::plan {

BatchEpoch::BatchEpoch(const StreamOrder& stream, std::uint32_t epoch,
                       std::unique_ptr<EpochPlan> fresh, std::span<const FactorChange> factors)
    : batch_rows_(stream.spec.batch_rows),
      fresh_(std::move(fresh)),
      echo_(stream.shape,
            EchoOrder::LaneInEpoch{
                .seed = stream.spec.seed, .epoch = epoch, .items = stream.demand.items},
            factors) {}

std::uint32_t BatchEpoch::batch_size(std::uint64_t batch) const {
  return fresh_->valid_rows(batch);
}

BatchForm BatchEpoch::form(std::uint64_t step) const { return fresh_->form(echo_.at(step).item); }

RowUse BatchEpoch::batch_at(std::uint64_t step) const {
  const ItemUse use = echo_.at(step);
  return {.record = use.item, .use = use.use, .uses = use.uses};
}

std::uint32_t BatchEpoch::valid_rows(std::uint64_t step) const {
  return batch_size(echo_.at(step).item);
}

RowUse BatchEpoch::at(std::uint64_t row) const {
  RowUse use;
  read_batch(echo_.at(row / batch_rows_), row % batch_rows_, {&use, 1});
  return use;
}

void BatchEpoch::read(std::uint64_t row, std::span<RowUse> out) const {
  ECHOLINE_CHECK(row <= rows() && out.size() <= rows() - row);
  EchoWalk walk(echo_, row / batch_rows_);
  std::uint64_t first = row % batch_rows_;
  while (!out.empty()) {
    const std::uint64_t count = std::min<std::uint64_t>(out.size(), batch_rows_ - first);
    read_batch(walk.next(), first, out.first(count));
    out = out.subspan(count);
    first = 0;
  }
}

// A short batch has all its valid rows first; the missing ones are marked as not valid.
void BatchEpoch::read_batch(const ItemUse& batch, std::uint64_t first,
                            std::span<RowUse> out) const {
  const std::uint64_t size = batch_size(batch.item);
  const std::uint64_t valid = first < size ? std::min<std::uint64_t>(out.size(), size - first) : 0;
  fresh_->read(batch.item * batch_rows_ + std::min(first, size), out.first(valid));
  for (RowUse& use : out.subspan(valid)) use = {.valid = false};
  for (RowUse& use : out) {
    use.use = batch.use;
    use.uses = batch.uses;
  }
}

std::uint64_t BatchEpoch::next_block(std::uint64_t row) const {
  return echo_.next_block((row + batch_rows_ - 1) / batch_rows_);
}

std::uint64_t BatchEpoch::next_item(std::uint64_t row) const {
  const std::uint64_t batches = echo_.blocks().begin(next_block(row));
  return fresh_->next_item(std::min(batches * batch_rows_, fresh_->rows()));
}

}  // namespace echoline::plan
