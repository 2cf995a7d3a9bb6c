#include "engine/pass/pass.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/system_limit.h"
#include "engine/pass/published_counts.h"

namespace echoline::engine {
namespace {

// An upper bound of a sleep that nothing ends; releases and finished batches wake the pass.
constexpr std::uint64_t kWaitNs = 100'000'000;
// Nothing wakes the pass when read-ahead room is given back, or when time has made more room for
// the first requests; bytes from a store take longer.
constexpr std::uint64_t kRoomWaitNs = 2'000'000;

std::uint64_t mean_record_bytes(const record::DataSet& data_set) {
  // Users' code makes a sample from its number: rows get tasks of their own.
  if (data_set.makes_samples()) return kChunkBytes;
  const record::Index& index = data_set.index();
  return std::max<std::uint64_t>(1, index.record_bytes_total() / index.record_count());
}

// Of the batch's first row, for traces.
std::uint64_t first_record(ring::Ring& ring, const InFlightBatch& batch) {
  // Nobody has written a first row that another host prepares. A batch without rows repeats a slot.
  if (!batch.rows.empty() && batch.rows.front().row != 0) return trace::kUnknown;
  return *ring.sample_ids(batch.descriptor.arena_row);
}

}  // namespace

Result<std::shared_ptr<Pass>> Pass::create(std::shared_ptr<StreamCore> core, Options options,
                                           std::vector<MemoryBudget::Reservation> reservations) {
  ECHOLINE_ASSIGN(std::unique_ptr<ring::Ring> ring, ring::Ring::create(core->ring_spec));
  // The trainers of the new ring need the changes that led to its first row.
  const auto& [factors, weights] = options.history;
  for (const shm::FactorLogEntry& entry : factors.entries()) ring->log_factor(entry);
  for (const shm::WeightLogEntry& entry : weights.entries()) ring->log_weights(entry);
  return std::shared_ptr<Pass>(
      new Pass(std::move(core), std::move(options), std::move(reservations), std::move(ring)));
}

Result<std::shared_ptr<Pass>> Pass::start(std::shared_ptr<StreamCore> core, Options options,
                                          std::vector<MemoryBudget::Reservation> reservations) {
  ECHOLINE_ASSIGN(std::shared_ptr<Pass> pass,
                  create(std::move(core), std::move(options), std::move(reservations)));
  try {
    pass->start_thread();
  } catch (const std::system_error& error) {
    return limit_reached(error).with_context("a thread for another pass");
  }
  return pass;
}

Pass::Pass(std::shared_ptr<StreamCore> core, Options options,
           std::vector<MemoryBudget::Reservation> reservations, std::unique_ptr<ring::Ring> ring)
    : core_(std::move(core)),
      reservations_(std::move(reservations)),
      ring_(std::move(ring)),
      mean_record_bytes_(mean_record_bytes(*core_->data_set)),
      account_(std::make_shared<PassAccount>(core_->counters, options.window_bytes_max)),
      trace_(*core_),
      row_maker_(std::make_shared<RowMaker>(core_, ring_, account_, trace_.number())),
      join_table_(*core_, *ring_, options.start, std::move(options.history), options.tails,
                  options.held),
      planner_(*core_, join_table_, account_),
      slots_(core_->ring_spec.slot_count, core_->ring_spec.batch_rows, core_->repeats_batches()),
      replaced_in_slot_(core_->ring_spec.slot_count),
      hold_up_(*ring_, join_table_, in_flight_, core_->ring_spec.descriptors_live),
      thread_(*this, "pass") {}

Pass::~Pass() { stop(shm::kWriterEnded); }

void Pass::stop(shm::WriterState state) {
  if (stopped_.exchange(true)) return;
  // First the rows: the pass's thread may wait for an item whose row users' code makes.
  row_maker_->stop();
  thread_.stop();
  // Records still awaited lose their last holder here, and the fetcher drops them.
  in_flight_.clear();
  planner_.clear();
  // Last: when readers see the end, nothing is written to the ring any more.
  ring_->end(state);
}

bool Pass::do_work() {
  // Read before the slots are looked at: wait() must not miss a release that comes after it.
  released_seen_ = ring_->released();
  publish_done();
  if (skip_unwanted()) return false;
  const bool more = planner_.look_ahead(request_bound());
  return try_start_batch() || more;
}

std::optional<ReadAheadPlanner::Bound> Pass::request_bound() {
  const bool has_readers = join_table_.may_read_ahead();
  if (has_readers && ring_->published() > 0) return std::nullopt;
  // While nobody reads, only the slots are filled: requests cannot be called back, and would delay
  // the first batch of a trainer that wants another position. Readers may begin behind the batches
  // in the slots: then all slots are free for the next ones.
  const bool is_behind = ring_->next_wanted().has_value() && released_seen_ == next_sequence_;
  const std::size_t in_slots = is_behind ? 0 : std::min<std::size_t>(next_sequence_, core_->slots);
  const bool begun = has_readers && account_->ahead_bytes() > 0;
  const double rate = core_->fetchers->usual_rate();
  return {{core_->slots - in_slots, first_requests_.bytes(rate, begun, monotonic_ns())}};
}

void Pass::wait() {
  const bool room_may_come =
      (planner_.lacks_room() && !in_flight_.empty()) || first_requests_.grows(monotonic_ns());
  const auto asleep = trace_.sleep([this] { return hold_up_.present(); });
  ring_->wait_released(released_seen_ + 1,
                       monotonic_ns() + (room_may_come ? kRoomWaitNs : kWaitNs));
}

void Pass::publish_done() {
  while (in_flight_.first_is_done()) {
    const std::shared_ptr<InFlightBatch> batch = in_flight_.take_first();
    const std::uint64_t begin_ns = monotonic_ns();
    // Rows are complete, so ragged rows can be moved together before anyone reads them.
    row_maker_->finish_ragged(*batch);
    batch->descriptor.replaced_rows = replaced_rows(*batch);
    join_table_.publish(batch->descriptor);
    if (trace_.now_ns() != 0) {
      trace_.add_published(*batch, first_record(*ring_, *batch), begin_ns);
    }
    account_->add_ahead(-batch->ahead_bytes);
    count_published(*core_, *ring_, *batch);
    core_->counters->publish_ns.fetch_add(monotonic_ns() - begin_ns, std::memory_order_relaxed);
  }
}

std::uint32_t Pass::replaced_rows(const InFlightBatch& batch) {
  std::uint32_t& in_slot = replaced_in_slot_[batch.descriptor.slot];
  // A batch without rows repeats a slot: the number of its first publication holds.
  if (!batch.rows.empty()) in_slot = batch.replaced_rows.load(std::memory_order_relaxed);
  return in_slot;
}

bool Pass::is_unwanted(const Step& step) const {
  const std::optional<plan::Position> wanted = ring_->next_wanted();
  if (!wanted || wanted->epoch >= plan::kEpochsMax) return false;
  // The first row after the step is not beyond what the slowest reader wants next.
  return plan::Position{step.start.epoch, step.start.row + step.rows} <= *wanted;
}

bool Pass::skip_unwanted() {
  // Under batch echo a planned batch may fill a slot that later ones repeat.
  if (core_->repeats_batches() || planner_.empty()) return false;
  if (!is_unwanted(planner_.front().step)) return false;
  if (!in_flight_.empty()) return true;
  const bool leapt = join_table_.skip([this](bool all) {
    if (all) planner_.take_back();
    while (!planner_.empty() && is_unwanted(planner_.front().step)) planner_.leave_out_front();
    return planner_.empty() ? std::nullopt : std::optional(planner_.front().step.start);
  });
  // Kept records were for uses that the leap has left out.
  if (leapt) planner_.clear_window();
  if (planner_.empty()) planner_.request_shared();
  return false;
}

bool Pass::try_start_batch() {
  if (planner_.empty()) return false;
  const std::uint64_t live = next_sequence_ - ring_->released();
  // Without batch echo, slots and live descriptors are equally many: a slot that a reader holds is
  // never claimed.
  const bool full = live >= core_->ring_spec.descriptors_live;
  const auto slot = full ? std::nullopt : claim_slot(planner_.front().step);
  hold_up_.note_full(!slot.has_value());
  if (!slot.has_value()) return false;
  if (!join_table_.try_begin_step(planner_.front().end)) {
    planner_.take_back();
    return true;  // they are planned again at once
  }
  const std::shared_ptr<InFlightBatch> batch = planner_.take_front().batch;
  batch->descriptor.slot = slot->slot;
  batch->descriptor.arena_row = slot->arena_row;
  batch->number = next_sequence_++;
  batch->begin_ns = monotonic_ns();
  in_flight_.push(batch);
  // A repeat has no rows to make: it is done at once and waits for its turn.
  if (!batch->rows.empty()) {
    batch->start_chunks(row_maker_, mean_record_bytes_, core_->ring_spec.fields.size());
  }
  return true;
}

std::optional<SlotPool::Slot> Pass::claim_slot(const Step& step) {
  if (!core_->repeats_batches()) return slots_.circular(next_sequence_);
  const bool last_use = step.batch.use + 1 == step.batch.uses;
  return slots_.of_batch(step.start.epoch, step.batch.record, next_sequence_, last_use,
                         ring_->released());
}

void Pass::note_wait_for_bytes() {
  // How long the first batch takes says nothing about reading ahead.
  if (ring_->published() == 0) return;
  if (planner_.note_wait()) wake();
}

}  // namespace echoline::engine
