// The part of a pass that looks ahead: which batches are planned, and which of their records are
// ordered, so that their bytes are there in time and never more than there is room for.

#include <utility>

#include "base/clock.h"
#include "engine/pass/pass.h"
#include "engine/pass/pass_account.h"

namespace echoline::engine {
namespace {

// So many orders at a time, then batches have their turn.
constexpr std::size_t kOrdersMax = 4096;

}  // namespace

std::uint64_t Pass::ahead_bytes() const { return account_->ahead_bytes(); }

void Pass::note_wait_for_bytes() {
  // How long the first batch takes says nothing about looking ahead.
  if (ring_->published() == 0) return;
  if (!waited_for_bytes_.exchange(true, std::memory_order_relaxed)) wake();
}

// True while there is more to look at.
bool Pass::look_ahead() {
  // The first batch waits for its own records, not for their neighbours in the shards. And as long
  // as nobody reads, only the slots are filled: what is under way cannot be called back, and would
  // stand before the first batch of a trainer that wants another place.
  const bool begun = ring_->published() > 0 && ring_->next_wanted().has_value();
  // Orders go out in bulk, so that neighbours in a shard meet in the book and share a request; one
  // by one, as batches leave, almost each would be a request of its own.
  const std::uint64_t target = aim();
  const std::uint64_t refill_at = target / 4 * 3;
  if (planned_.empty() || ahead_bytes() <= refill_at) refilling_ = true;
  lacks_room_ = false;
  if (!refilling_) return false;
  std::vector<FetchRequest> orders;
  while (orders.size() < kOrdersMax && refilling_) {
    if (unordered_.empty()) {
      if (!begun && dispatched_ + planned_.size() >= core_->slots) break;
      planned_.push_back(plan_step());
    }
    take_orders(orders);
    lacks_room_ = !unordered_.empty();
    refilling_ = !lacks_room_ && ahead_bytes() < target;
  }
  const bool more = refilling_ && !orders.empty();
  core_->fetcher->order(std::move(orders));
  return more;
}

// How many bytes are wanted ahead now.
std::uint64_t Pass::aim() {
  read_ahead_.see({.now_ns = monotonic_ns(),
                   .used_bytes = account_->used_bytes(),
                   .delay_ns = account_->take_longest_delay_ns(),
                   .waited = waited_for_bytes_.exchange(false, std::memory_order_relaxed)});
  const std::uint64_t target = read_ahead_.target_bytes();
  ahead_target_bytes_.store(target, std::memory_order_relaxed);
  return target;
}

// Of the batch that was planned last, the records for which there is room.
void Pass::take_orders(std::vector<FetchRequest>& orders) {
  const std::uint64_t now_ns = monotonic_ns();
  while (!unordered_.empty()) {
    FetchRequest& next = unordered_.front();
    if (ahead_bytes() + next.extent.bytes > core_->read_ahead.most_bytes) return;
    next.item->count_ahead(next.extent.bytes, now_ns);
    orders.push_back(std::move(next));
    unordered_.pop_front();
  }
}

// The next step, and which of its rows are to be prepared.
Step Pass::walk_step(std::vector<bool>& prepared) {
  std::lock_guard lock(marks_mutex_);
  if (std::exchange(lanes_dropped_, false)) window_.clear();
  Step step = walk_.next();
  planned_position_ = walk_.position();
  const std::uint64_t epoch_rows = walk_.factors().rows(step.start.epoch);
  prepared.resize(step.rows);
  for (std::uint32_t row = 0; row < step.rows; ++row) {
    prepared[row] = lanes_.has_row(step.start.row + row, epoch_rows);
  }
  return step;
}

Pass::Planned Pass::plan_step() {
  std::vector<bool> prepared;
  Planned planned{walk_step(prepared), std::make_shared<InFlightBatch>()};
  const Step& step = planned.step;
  InFlightBatch& filling = *planned.filling;
  const bool batch_echo = core_->repeats_batches();
  // Its rows are not kept beside their items while the step waits for a slot.
  const std::vector<plan::RowUse> uses = std::move(planned.step.uses);
  shm::Descriptor& descriptor = filling.descriptor;
  descriptor.epoch = step.start.epoch;
  descriptor.row = step.start.row;
  descriptor.step = step.start.row / core_->ring_spec.batch_rows;
  descriptor.valid_rows = step.rows;
  descriptor.flags = step.end_of_epoch ? static_cast<std::uint32_t>(shm::kEndOfEpoch) : 0;
  descriptor.batch_use = batch_echo ? step.batch.use : 0;
  // The rows of a batch that is repeated are in their slot, but it takes room here all the same.
  filling.ahead_bytes =
      static_cast<std::int64_t>(kAheadOverheadBytes * (step.repeats_earlier ? 1 : step.rows));
  account_->add_ahead(filling.ahead_bytes);
  if (step.repeats_earlier) return planned;
  filling.rows.reserve(step.rows);
  for (std::uint32_t row = 0; row < uses.size(); ++row) {
    const plan::RowUse& planned_use = uses[row];
    const bool fresh = planned_use.fresh();
    descriptor.fresh_rows += fresh ? 1 : 0;
    if (!prepared[row]) {
      ++filling.others_rows;
      filling.others_fresh += fresh ? 1 : 0;
      continue;
    }
    // Under batch echo the slot is kept, not its records.
    const plan::RowUse use = batch_echo ? plan::RowUse{.record = planned_use.record} : planned_use;
    echo::Window::Touched touched = window_.touch(step.start.epoch, use);
    std::uint64_t fresh_bytes = 0;
    if (touched.is_new) {
      const record::Extent extent = core_->data_set->index().extent(use.record);
      fresh_bytes = extent.bytes;
      unordered_.push_back({touched.item, use.record, extent});
    }
    filling.rows.push_back(
        {row, std::move(touched.item), use.use, use.use + 1 < use.uses, fresh_bytes});
  }
  return planned;
}

// What later batches use again is no longer ahead of its use; the rest goes when its bytes have
// come.
void Pass::leave_out(const InFlightBatch& filling) {
  account_->add_ahead(-filling.ahead_bytes);
  for (const InFlightRow& row : filling.rows) {
    if (!row.used_again) continue;
    std::lock_guard lock(row.item->mutex);
    row.item->used();
  }
}

// The batch that was planned last has been left out: of what was not ordered yet, later batches may
// still need some, and they order nothing twice. It counts as theirs, not as read ahead.
void Pass::order_for_later() {
  std::vector<FetchRequest> orders;
  for (FetchRequest& order : unordered_) {
    if (order.item.use_count() > 1) orders.push_back(std::move(order));
  }
  unordered_.clear();
  core_->fetcher->order(std::move(orders));
}

}  // namespace echoline::engine
