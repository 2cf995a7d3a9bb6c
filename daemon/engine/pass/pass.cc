#include "engine/pass/pass.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "engine/pass/pass_account.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kSleepNs = 100'000'000;
// Nobody is told when read-ahead is given back; what comes from a store takes longer.
constexpr std::uint64_t kRoomSleepNs = 2'000'000;
constexpr std::uint64_t kChunkRowsMax = 64;

}  // namespace

Result<std::shared_ptr<Pass>> Pass::start(std::shared_ptr<StreamCore> core, Options options,
                                          std::vector<MemoryBudget::Reservation> reservations) {
  ECHOLINE_ASSIGN(std::unique_ptr<ring::Ring> ring, ring::Ring::create(core->ring_spec));
  std::shared_ptr<Pass> pass(
      new Pass(std::move(core), std::move(options), std::move(reservations), std::move(ring)));
  for (const shm::FactorLogEntry& entry : pass->options_.factors.entries()) {
    pass->ring_->log_factor(entry);
  }
  pass->thread_ = std::thread([raw = pass.get()] { raw->run(); });
  return pass;
}

Pass::Pass(std::shared_ptr<StreamCore> core, Options options,
           std::vector<MemoryBudget::Reservation> reservations, std::unique_ptr<ring::Ring> ring)
    : core_(std::move(core)),
      options_(std::move(options)),
      reservations_(std::move(reservations)),
      ring_(std::move(ring)),
      account_(std::make_shared<PassAccount>(core_->counters, options_.window_bytes_max)),
      window_(account_),
      read_ahead_(core_->read_ahead),
      replaced_in_slot_(core_->ring_spec.slot_count),
      slots_(core_->ring_spec.slot_count, core_->ring_spec.batch_rows, core_->repeats_batches()),
      walk_(*core_->plan, options_.start, options_.factors, options_.tails),
      next_position_(walk_.position()),
      lanes_(core_->plan->spec().lanes, core_->ring_spec.batch_rows),
      planned_position_(walk_.position()) {}

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
    const bool waits_for_room = lacks_room_ && !fillings_.empty();  // which workers make
    ring_->wait_released(released + 1, monotonic_ns() + (waits_for_room ? kRoomSleepNs : kSleepNs));
  }
  // What still waits for bytes must not keep this pass alive.
  for (const auto& filling : fillings_) {
    for (const InFlightRow& row : filling->rows) row.item->abandon();
  }
  fillings_.clear();
  planned_.clear();
  unordered_.clear();
  window_.clear();
  std::lock_guard lock(marks_mutex_);
  head_.reset();
}

void Pass::publish_ready() {
  while (!fillings_.empty() && fillings_.front()->done()) {
    const std::shared_ptr<InFlightBatch> filling = std::move(fillings_.front());
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
    account_->add_ahead(-filling->ahead_bytes);
    slots_filling_.store(fillings_.size(), std::memory_order_relaxed);
    StreamCounters& counters = *core_->counters;
    counters.batches.fetch_add(1, std::memory_order_relaxed);
    const std::uint32_t rows = descriptor.valid_rows - filling->others_rows;
    const std::uint32_t fresh = descriptor.fresh_rows - filling->others_fresh;
    counters.samples_fresh.fetch_add(fresh, std::memory_order_relaxed);
    counters.samples_echoed.fetch_add(rows - fresh, std::memory_order_relaxed);
    std::uint64_t never = 0;
    counters.first_batch_ns.compare_exchange_strong(never, monotonic_ns() - core_->created_ns);
  }
}

// A slot that is published again holds what it held.
std::uint32_t Pass::replaced_rows(const InFlightBatch& filling) {
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
  if (core_->repeats_batches() || planned_.empty()) return false;
  if (!is_passed_over(planned_.front().step)) return false;
  if (!fillings_.empty()) return true;
  std::lock_guard lock(marks_mutex_);  // nobody joins meanwhile
  while (!planned_.empty() && is_passed_over(planned_.front().step)) {
    leave_out(*planned_.front().filling);
    planned_.pop_front();
  }
  if (planned_.empty()) {
    const std::optional<plan::Position> wanted = ring_->next_wanted();
    if (wanted && walk_.leap_to(*wanted)) window_.clear();
    planned_position_ = walk_.position();
    order_for_later();
  }
  next_position_ = planned_.empty() ? walk_.position() : planned_.front().step.start;
  // Who started at what was published before would find no row after it.
  marks_.clear();
  return false;
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
  if (!core_->repeats_batches()) return slots_.circular(dispatched_);
  const bool last_use = step.batch.use + 1 == step.batch.uses;
  return slots_.of_batch(step.start.epoch, step.batch.record, dispatched_, last_use,
                         ring_->released());
}

void Pass::dispatch(Planned planned, SlotPool::Slot slot) {
  const std::shared_ptr<InFlightBatch> filling = std::move(planned.filling);
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

// A chunk waits for all its bytes, so large ones must not wait for each other.
std::vector<std::uint32_t> Pass::chunk_ends(const InFlightBatch& filling) const {
  const record::Index& index = core_->data_set->index();
  const std::uint64_t mean_bytes =
      std::max<std::uint64_t>(1, index.record_bytes_total() / index.record_count());
  const std::uint64_t rows_max =
      std::clamp<std::uint64_t>(kChunkBytes / mean_bytes, 1, kChunkRowsMax);
  const auto rows = static_cast<std::uint32_t>(filling.rows.size());
  std::vector<std::uint32_t> ends;
  std::uint32_t begin = 0;
  std::uint64_t bytes = 0;
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::uint64_t fresh_bytes = filling.rows[row].fresh_bytes;
    if (row > begin && (row - begin == rows_max || bytes + fresh_bytes > kChunkBytes)) {
      ends.push_back(row);
      begin = row;
      bytes = 0;
    }
    bytes += fresh_bytes;
  }
  ends.push_back(rows);
  return ends;
}

void Pass::start_chunks(const std::shared_ptr<InFlightBatch>& filling) {
  filling->ragged_bytes.resize(std::size_t{filling->descriptor.valid_rows} *
                               core_->ring_spec.fields.size());
  const std::vector<std::uint32_t> ends = chunk_ends(*filling);
  filling->chunks_left.store(static_cast<std::uint32_t>(ends.size()), std::memory_order_relaxed);
  std::uint32_t begin = 0;
  for (const std::uint32_t end : ends) {
    std::make_shared<Chunk>(shared_from_this(), filling, std::exchange(begin, end), end)->start();
  }
}

}  // namespace echoline::engine
