#include "engine/pass.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "engine/pass_account.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kSleepNs = 100'000'000;
// Bytes of encoded records that make a chunk worth a task: a few hundred microseconds of decoding.
constexpr std::uint64_t kChunkBytes = 64 << 10;
constexpr std::uint64_t kChunkRowsMax = 64;
// So many orders at a time, then batches have their turn.
constexpr std::size_t kOrdersMax = 4096;

bool repeats_batches(const StreamCore& core) {
  return core.plan->spec().echo_point == plan::EchoPoint::kBatch;
}

}  // namespace

Result<std::shared_ptr<Pass>> Pass::start(std::shared_ptr<StreamCore> core, Options options,
                                          std::vector<MemoryBudget::Reservation> reservations) {
  ECHOLINE_ASSIGN(std::unique_ptr<ring::Ring> ring, ring::Ring::create(core->ring_spec));
  std::shared_ptr<Pass> pass(
      new Pass(std::move(core), std::move(options), std::move(reservations), std::move(ring)));
  pass->thread_ = std::thread([raw = pass.get()] { raw->run(); });
  return pass;
}

Pass::Pass(std::shared_ptr<StreamCore> core, Options options,
           std::vector<MemoryBudget::Reservation> reservations, std::unique_ptr<ring::Ring> ring)
    : core_(std::move(core)),
      options_(std::move(options)),
      reservations_(std::move(reservations)),
      ring_(std::move(ring)),
      walk_(*core_->plan, options_.start, options_.changes, options_.tails),
      window_(std::make_shared<PassAccount>(core_->counters, options_.window_bytes_max)),
      replaced_in_slot_(core_->ring_spec.slot_count),
      slots_(core_->ring_spec.slot_count, core_->ring_spec.batch_rows, repeats_batches(*core_)),
      next_position_(walk_.position()) {}

void Pass::stop(shm::WriterState state) {
  if (!thread_.joinable()) return;  // the readers keep the state they were told first
  stopping_.store(true);
  wake();
  thread_.join();
  // Workers that are at a row finish it; the others see that the pass has ended.
  while (working_.load() != 0) std::this_thread::yield();
  ring_->end(state);
}

void Pass::run() {
  name_thread("pass");
  while (!stopping_.load()) {
    // Read before the slots are looked at: a release after it must not be slept over.
    const std::uint64_t released = ring_->released();
    publish_ready();
    const bool passing_over = pass_over();
    const bool looking = !passing_over && look_ahead();
    if (!passing_over && (try_dispatch() || looking)) continue;
    ring_->wait_released(released + 1, monotonic_ns() + kSleepNs);
  }
  // What still waits for bytes must not keep this pass alive.
  for (const auto& filling : fillings_) {
    for (const FillingRow& row : filling->rows) row.item->abandon();
  }
  fillings_.clear();
  planned_.clear();
  window_.clear();
  std::lock_guard lock(marks_mutex_);
  head_.reset();
}

void Pass::publish_ready() {
  while (!fillings_.empty() && fillings_.front()->done()) {
    const std::shared_ptr<Filling> filling = std::move(fillings_.front());
    fillings_.pop_front();
    finish_ragged(*filling);
    shm::Descriptor descriptor = filling->descriptor;
    descriptor.replaced_rows = replaced_rows(*filling);
    descriptor.published_ns = monotonic_ns();
    {
      // A joiner sees the descriptor and its place in the order in one step.
      std::lock_guard lock(marks_mutex_);
      const std::uint64_t sequence = ring_->publish(descriptor);
      marks_.push_back({{descriptor.epoch, descriptor.row}, descriptor.valid_rows, sequence});
      if (marks_.size() > core_->ring_spec.descriptors_live) marks_.pop_front();
      next_position_ = {descriptor.epoch, descriptor.row + descriptor.valid_rows};
      head_ = fillings_.empty() ? nullptr : fillings_.front();
    }
    ahead_bytes_.fetch_sub(filling->ahead_bytes, std::memory_order_relaxed);
    slots_filling_.store(fillings_.size(), std::memory_order_relaxed);
    StreamCounters& counters = *core_->counters;
    counters.batches.fetch_add(1, std::memory_order_relaxed);
    counters.samples_fresh.fetch_add(descriptor.fresh_rows, std::memory_order_relaxed);
    counters.samples_echoed.fetch_add(descriptor.valid_rows - descriptor.fresh_rows,
                                      std::memory_order_relaxed);
    std::uint64_t never = 0;
    counters.first_batch_ns.compare_exchange_strong(never, monotonic_ns() - core_->created_ns);
  }
}

// A slot that is published again holds what it held.
std::uint32_t Pass::replaced_rows(const Filling& filling) {
  std::uint32_t& in_slot = replaced_in_slot_[filling.descriptor.slot];
  if (!filling.rows.empty()) in_slot = filling.replaced_rows.load(std::memory_order_relaxed);
  return in_slot;
}

bool Pass::is_passed_over(const Step& step) const {
  const std::optional<plan::Position> wanted = ring_->next_wanted();
  if (!wanted || wanted->epoch >= plan::kEpochsMax) return false;
  return plan::Position{step.start.epoch, step.start.row + step.rows} <= *wanted;
}

// What every reader has left behind unread (a loop that ended by `break`, skipped steps) is not
// prepared. True while batches that were begun before have to be published first.
bool Pass::pass_over() {
  // Under batch echo a planned batch may stand in a slot that later ones need.
  if (repeats_batches(*core_) || planned_.empty()) return false;
  if (!is_passed_over(planned_.front().step)) return false;
  if (!fillings_.empty()) return true;
  std::lock_guard lock(marks_mutex_);  // nobody joins meanwhile
  while (!planned_.empty() && is_passed_over(planned_.front().step)) {
    ahead_bytes_.fetch_sub(planned_.front().filling->ahead_bytes, std::memory_order_relaxed);
    planned_.pop_front();
  }
  if (planned_.empty()) {
    const std::optional<plan::Position> wanted = ring_->next_wanted();
    if (wanted && walk_.leap_to(*wanted)) window_.clear();
  }
  next_position_ = planned_.empty() ? walk_.position() : planned_.front().step.start;
  // Who started at what was published before would find no row after it.
  marks_.clear();
  return false;
}

// True while there is more to look at.
bool Pass::look_ahead() {
  // The first batch waits for its own records, not for their neighbours in the shards.
  const bool begun = ring_->published() > 0;
  if (!begun && dispatched_ + planned_.size() >= core_->slots) return false;
  // Orders go out in bulk, so that neighbours in a shard meet in the book and share a request; one
  // by one, as batches leave, almost each would be a request of its own.
  const std::uint64_t refill_at = core_->read_ahead_bytes / 4 * 3;
  if (planned_.empty() || ahead_bytes() <= refill_at) refilling_ = true;
  if (!refilling_) return false;
  std::vector<Order> orders;
  while (orders.size() < kOrdersMax && refilling_) {
    planned_.push_back(plan_step(orders));
    if (!begun && dispatched_ + planned_.size() >= core_->slots) break;
    refilling_ = ahead_bytes() < core_->read_ahead_bytes;
  }
  core_->fetcher->order(std::move(orders));
  return refilling_;
}

Pass::Planned Pass::plan_step(std::vector<Order>& orders) {
  Planned planned{walk_.next(), std::make_shared<Filling>()};
  const Step& step = planned.step;
  Filling& filling = *planned.filling;
  const bool batch_echo = repeats_batches(*core_);
  // Its rows are not kept beside their items while the step waits for a slot.
  const std::vector<plan::RowUse> uses = std::move(planned.step.uses);
  shm::Descriptor& descriptor = filling.descriptor;
  descriptor.epoch = step.start.epoch;
  descriptor.row = step.start.row;
  descriptor.step = step.start.row / core_->ring_spec.batch_rows;
  descriptor.valid_rows = step.rows;
  descriptor.flags = step.end_of_epoch ? static_cast<std::uint32_t>(shm::kEndOfEpoch) : 0;
  descriptor.batch_use = batch_echo ? step.batch.use : 0;
  if (step.repeats_earlier) {
    // Its rows are in their slot, but it takes room here all the same.
    filling.ahead_bytes = kAheadOverheadBytes;
    ahead_bytes_.fetch_add(filling.ahead_bytes, std::memory_order_relaxed);
    return planned;
  }
  filling.rows.reserve(step.rows);
  for (const plan::RowUse& planned_use : uses) {
    // Under batch echo the slot is kept, not its records.
    const plan::RowUse use = batch_echo ? plan::RowUse{.record = planned_use.record} : planned_use;
    echo::Window::Touched touched = window_.touch(step.start.epoch, use);
    if (touched.is_new) {
      filling.ahead_bytes += core_->data_set->index().extent(use.record).bytes;
      orders.push_back({touched.item, use.record, {}});
    }
    filling.rows.push_back({std::move(touched.item), use.use, use.use + 1 < use.uses});
    descriptor.fresh_rows += planned_use.fresh() ? 1 : 0;
  }
  filling.ahead_bytes += step.rows * kAheadOverheadBytes;
  ahead_bytes_.fetch_add(filling.ahead_bytes, std::memory_order_relaxed);
  return planned;
}

bool Pass::try_dispatch() {
  if (planned_.empty()) return false;
  const std::uint64_t live = dispatched_ - ring_->released();
  const bool full = live >= core_->ring_spec.descriptors_live;
  const auto slot = full ? std::nullopt : claim_slot(planned_.front().step);
  ring_full_.store(!slot.has_value(), std::memory_order_relaxed);
  if (!slot.has_value()) return false;
  Planned planned = std::move(planned_.front());
  planned_.pop_front();
  dispatch(std::move(planned), *slot);
  return true;
}

std::optional<SlotPool::Slot> Pass::claim_slot(const Step& step) {
  if (!repeats_batches(*core_)) return slots_.circular(dispatched_);
  const bool last_use = step.batch.use + 1 == step.batch.uses;
  return slots_.of_batch(step.start.epoch, step.batch.record, dispatched_, last_use,
                         ring_->released());
}

void Pass::dispatch(Planned planned, SlotPool::Slot slot) {
  const std::shared_ptr<Filling> filling = std::move(planned.filling);
  filling->descriptor.slot = slot.slot;
  filling->descriptor.arena_row = slot.arena_row;
  ++dispatched_;
  fillings_.push_back(filling);
  slots_filling_.store(fillings_.size(), std::memory_order_relaxed);
  {
    std::lock_guard lock(marks_mutex_);
    head_ = fillings_.front();
  }
  if (!filling->rows.empty()) start_chunks(filling);
}

void Pass::start_chunks(const std::shared_ptr<Filling>& filling) {
  const auto rows = static_cast<std::uint32_t>(filling->rows.size());
  const record::Index& index = core_->data_set->index();
  const std::uint64_t record_bytes =
      std::max<std::uint64_t>(1, index.record_bytes_total() / index.record_count());
  const auto chunk_rows = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(kChunkBytes / record_bytes, 1, kChunkRowsMax));
  filling->ragged_bytes.resize(std::size_t{rows} * core_->ring_spec.fields.size());
  filling->chunks_left.store((rows + chunk_rows - 1) / chunk_rows, std::memory_order_relaxed);
  for (std::uint32_t begin = 0; begin < rows; begin += chunk_rows) {
    std::make_shared<Chunk>(shared_from_this(), filling, begin, std::min(begin + chunk_rows, rows))
        ->start();
  }
}

}  // namespace echoline::engine
