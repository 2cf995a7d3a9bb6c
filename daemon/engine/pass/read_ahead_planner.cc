#include "engine/pass/read_ahead_planner.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/clock.h"

namespace echoline::engine {
namespace {

// Requests that one look_ahead makes ready; then finished batches have their turn.
constexpr std::size_t kRequestsMax = 4096;
// A window that takes longer to arrive is requested in the order of its rows: a trainer would wait
// for the whole of it, again and again.
constexpr double kSoonNs = 1e9;

// Whether so many bytes arrive in that time, as far as the store's rate is known.
bool come_soon(std::uint64_t bytes, const FetchCounters& fetched) {
  return fetched.bytes > 0 && static_cast<double>(bytes) * static_cast<double>(fetched.store_ns) <=
                                  kSoonNs * static_cast<double>(fetched.bytes);
}

}  // namespace

bool ReadAheadPlanner::look_ahead(const std::optional<Bound>& bound) {
  // Requests go out in bulk, window by window: below three quarters of the target it is filled up
  // again. So neighbours of a shard meet in the coalescer and share a request. Request by request,
  // as batches leave, nearly each record would be a request of its own.
  const std::uint64_t target = update_target();
  const std::uint64_t refill_at = target / 4 * 3;
  // Without planned batches the pass would stop, whatever the bytes say.
  if (planned_.empty() || account_->ahead_bytes() <= refill_at) refilling_ = true;
  lacks_room_ = false;
  if (!refilling_) return false;
  std::size_t made = 0;
  while (made < kRequestsMax && refilling_) {
    if (!requests_.has_postponed()) {
      if (bound && planned_.size() >= bound->batches && account_->ahead_bytes() >= bound->bytes) {
        break;
      }
      std::optional<PlannedBatch> planned = plan_step();
      if (!planned.has_value()) break;
      planned_.push_back(*std::move(planned));
    }
    const std::size_t before = requests_.ready();
    make_requests_ready();
    made += requests_.ready() - before;
    lacks_room_ = requests_.has_postponed() && !waits_for_window();
    refilling_ = !requests_.has_postponed() && account_->ahead_bytes() < target;
  }
  const bool more = refilling_ && made > 0;
  if (!bound && requests_whole_windows() &&
      come_soon(core_.shuffle_window_bytes, core_.fetchers->counters())) {
    requests_.send_windows(more);
  } else {
    requests_.send();
  }
  return more;
}

std::uint64_t ReadAheadPlanner::update_target() {
  read_ahead_.see({.now_ns = monotonic_ns(),
                   .used_bytes = account_->used_bytes(),
                   .delay_ns = account_->take_longest_delay_ns(),
                   .waited = waited_for_bytes_.exchange(false, std::memory_order_relaxed)});
  // Copied to an atomic, because metrics read it on other threads.
  const std::uint64_t target = read_ahead_.target_bytes();
  target_bytes_.store(target, std::memory_order_relaxed);
  return target;
}

bool ReadAheadPlanner::requests_whole_windows() const {
  const std::uint64_t bytes = core_.shuffle_window_bytes;
  return bytes > 0 && 2 * bytes <= target_bytes();
}

// Nothing wakes the pass when there is room, but earlier batches do when they are finished. If the
// batch of the request is the next to be finished, only the request itself can make room.
bool ReadAheadPlanner::waits_for_window() const {
  return requests_whole_windows() && !planned_.empty() && requests_.next_begins_window() &&
         account_->ahead_bytes() + core_.shuffle_window_bytes > target_bytes();
}

void ReadAheadPlanner::make_requests_ready() {
  const std::uint64_t now_ns = monotonic_ns();
  while (requests_.has_postponed() && !waits_for_window()) {
    const FetchRequest& next = requests_.next();
    // Before the request is sent: bytes in flight count against the bound.
    const std::uint64_t bytes = core_.arriving_bytes(next.extent);
    if (account_->ahead_bytes() + bytes > core_.read_ahead.most_bytes) {
      // Rows that are planned again come in another order if there are several lanes: the bytes of
      // later rows must not take the room of the next ones.
      if (!window_.has_taken_back()) return;
      window_.drop_taken_back();
      continue;
    }
    next.item->count_ahead(bytes, now_ns);
    requests_.make_ready();
  }
}

std::optional<PlannedBatch> ReadAheadPlanner::plan_step() {
  std::optional<JoinTable::NextStep> taken = join_table_.next_step();
  if (!taken.has_value()) return std::nullopt;
  JoinTable::NextStep& next = *taken;
  if (next.is_replanned) take_back();
  // Records of lanes that other hosts take over have no more uses here.
  if (next.lanes_dropped) window_.clear();
  // What was left out at the end of the epochs before.
  window_.drop_taken_back_before(next.step.start.epoch);
  PlannedBatch planned{std::move(next.step), std::make_shared<InFlightBatch>(), next.end};
  const Step& step = planned.step;
  InFlightBatch& batch = *planned.batch;
  // The uses are not kept while the step waits for a slot.
  const std::vector<plan::RowUse> uses = std::move(planned.step.uses);
  shm::Descriptor& descriptor = batch.descriptor;
  descriptor.epoch = step.start.epoch;
  descriptor.row = step.start.row;
  descriptor.step = step.start.row / core_.ring_spec.batch_rows;
  descriptor.valid_rows = step.rows;
  descriptor.flags = step.end_of_epoch ? static_cast<std::uint32_t>(shm::kEndOfEpoch) : 0;
  descriptor.whole_rows = step.form.rows;
  descriptor.bucket_length = static_cast<std::uint32_t>(step.form.length);
  descriptor.batch_use = core_.repeats_batches() ? step.batch.use : 0;
  // A repeated batch has its rows in its slot already, but its plan takes memory all the same.
  batch.ahead_bytes =
      static_cast<std::int64_t>(kAheadOverheadBytes * (step.repeats_earlier ? 1 : step.rows));
  // Given back by Pass::publish_done or leave_out_front.
  account_->add_ahead(batch.ahead_bytes);
  if (!step.repeats_earlier) planned.last_window = add_rows(uses, next.prepared, batch);
  return planned;
}

RequestQueue::ShuffleWindow ReadAheadPlanner::add_rows(const std::vector<plan::RowUse>& uses,
                                                       const std::vector<bool>& prepared,
                                                       InFlightBatch& batch) {
  RequestQueue::ShuffleWindow last;
  batch.rows.reserve(uses.size());
  for (std::uint32_t row = 0; row < uses.size(); ++row) {
    const bool fresh = uses[row].fresh();
    batch.descriptor.fresh_rows += fresh ? 1 : 0;
    if (!prepared[row]) {
      ++batch.others_rows;
      batch.others_fresh += fresh ? 1 : 0;
      // At the end of an epoch, uses of one record can be on several hosts.
      window_.leave_out(batch.descriptor.epoch, uses[row]);
      continue;
    }
    // Under batch echo the slot is kept, not its records.
    const plan::RowUse use =
        core_.repeats_batches()
            ? plan::RowUse{.record = uses[row].record, .first_draw = uses[row].first_draw}
            : uses[row];
    // The window knows the item if an earlier row has used the record; else it makes one.
    echo::Window::Touched touched = window_.touch(batch.descriptor.epoch, use);
    std::uint64_t fresh_bytes = 0;
    if (touched.is_first) {
      const record::Extent extent = core_.data_set->index().extent(use.record);
      fresh_bytes = extent.bytes;
      // Ready when there is room for its bytes.
      if (touched.is_new) {
        const RequestQueue::ShuffleWindow window{batch.descriptor.epoch, uses[row].window};
        requests_.postpone({touched.item, use.record, extent}, window);
        last = std::max(last, window);
      }
    }
    batch.rows.push_back({.row = row,
                          .item = std::move(touched.item),
                          .use = use.use,
                          .used_again = use.use + 1 < use.uses,
                          .is_first = touched.is_first,
                          .fresh_bytes = fresh_bytes});
  }
  return last;
}

PlannedBatch ReadAheadPlanner::take_front() {
  PlannedBatch planned = std::move(planned_.front());
  planned_.pop_front();
  // Trainers may wait for it, and the next look_ahead may be later.
  requests_.send_up_to(planned.last_window);
  return planned;
}

void ReadAheadPlanner::take_back() {
  if (planned_.empty()) return;
  // These are all of the batch planned last.
  const std::unordered_set<const echo::Item*> not_requested = requests_.drop_postponed();
  for (; !planned_.empty(); planned_.pop_back()) {
    InFlightBatch& batch = *planned_.back().batch;
    account_->add_ahead(-batch.ahead_bytes);
    for (auto row = batch.rows.rbegin(); row != batch.rows.rend(); ++row) {
      const bool is_requested = !not_requested.contains(row->item.get());
      window_.take_back(std::move(row->item), row->is_first, is_requested);
    }
  }
}

void ReadAheadPlanner::leave_out_front() {
  const PlannedBatch planned = take_front();
  account_->add_ahead(-planned.batch->ahead_bytes);
  for (const InFlightRow& row : planned.batch->rows) {
    // Items that later batches use again are no longer ahead of their use. The others end with this
    // batch, or when their bytes have arrived.
    if (!row.used_again) continue;
    const MutexLock lock(row.item->mutex);
    row.item->used();
  }
}

void ReadAheadPlanner::clear() {
  planned_.clear();
  requests_.clear();
  window_.clear();
}

}  // namespace echoline::engine
