// The part of a pass that the workers run: one row of a batch, and what follows from a bad record.

#include <utility>

#include "base/clock.h"
#include "engine/pass/pass.h"

namespace echoline::engine {
namespace {

// Says while it lives that a worker is at a row of this pass.
class AtWork {
 public:
  explicit AtWork(std::atomic<std::uint32_t>& count) : count_(count) { count_.fetch_add(1); }
  ~AtWork() { count_.fetch_sub(1); }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

 private:
  std::atomic<std::uint32_t>& count_;
};

// Where the fields of a row stand in the ring.
void point_at_row(ring::Ring& ring, const shm::Descriptor& descriptor, std::uint32_t row,
                  std::vector<std::span<std::byte>>& fields) {
  const std::vector<decode::FieldType>& types = ring.spec().fields;
  fields.resize(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::size_t bytes = types[i].shape.elements() * shm::dtype_bytes(types[i].dtype);
    std::byte* data = types[i].ragged ? ring.ragged_row(i, descriptor.slot, row)
                                      : ring.row(i, descriptor.arena_row + row);
    fields[i] = {data, bytes};
  }
}

}  // namespace

Pass::Prepared Pass::prepare_row(InFlightBatch& filling, std::uint32_t index, std::size_t worker) {
  const AtWork at_work(working_);
  if (stopping_.load()) return Prepared::kStopped;
  const InFlightRow& planned = filling.rows[index];
  const std::uint32_t row = planned.row;
  echo::Item& item = *planned.item;
  batch::WorkerScratch& scratch = core_->worker_scratch[worker];
  const std::size_t field_count = core_->ring_spec.fields.size();
  point_at_row(*ring_, filling.descriptor, row, scratch.row_fields);
  const batch::RowTarget target{
      scratch.row_fields, std::span(filling.ragged_bytes).subspan(row * field_count, field_count)};

  const std::uint64_t begin_ns = monotonic_ns();
  std::unique_lock lock(item.mutex);
  if (!item.ready()) return Prepared::kBytesMissing;
  const bool first = item.has_encoded();
  const std::uint64_t sample = item.record;
  const bool replaced = item.attempt > 0;
  const UseKey key{core_->seed, sample, item.epoch, static_cast<std::uint16_t>(planned.use)};
  const Status status =
      core_->preparer->prepare(item, lock, key, planned.used_again, scratch, target);
  if (!status.ok()) return judge(item, lock, status);
  StreamCounters& counters = *core_->counters;
  const std::uint64_t spent_ns = monotonic_ns() - begin_ns;
  (first ? counters.prepare_first_ns : counters.prepare_again_ns)
      .fetch_add(spent_ns, std::memory_order_relaxed);
  (first ? counters.prepare_first_rows : counters.prepare_again_rows)
      .fetch_add(1, std::memory_order_relaxed);
  if (first) {
    account_->count_used(item.ahead_bytes());
    item.used();
  }
  write_row_words(filling, planned, sample, replaced);
  return Prepared::kDone;
}

Pass::Prepared Pass::judge(echo::Item& item, std::unique_lock<std::mutex>& lock,
                           const Status& verdict) {
  Status decision;
  {
    std::lock_guard bad_lock(bad_mutex_);
    // At an epoch's border two of them are at work, never more.
    std::erase_if(bad_by_epoch_, [&](const auto& bad) { return bad.first + 1 < item.epoch; });
    decision = core_->bad_records->judge(item, verdict, bad_by_epoch_[item.epoch]);
  }
  const std::uint64_t substitute = item.record;
  lock.unlock();
  if (!decision.ok()) {
    core_->fail(decision);
    return Prepared::kStopped;
  }
  std::vector<FetchRequest> orders;
  orders.push_back({item.shared_from_this(), substitute, {}});
  core_->fetcher->order(std::move(orders));
  return Prepared::kBytesMissing;
}

void Pass::write_row_words(InFlightBatch& filling, const InFlightRow& planned, std::uint64_t sample,
                           bool replaced) {
  const std::uint64_t arena_row = filling.descriptor.arena_row + planned.row;
  *ring_->sample_ids(arena_row) = sample;
  *ring_->uses(arena_row) = planned.use;
  *ring_->row_flags(arena_row) = replaced ? static_cast<std::uint32_t>(shm::kRowReplaced) : 0;
  if (replaced) filling.replaced_rows.fetch_add(1, std::memory_order_relaxed);
}

void Pass::finish_ragged(const InFlightBatch& filling) {
  const std::vector<decode::FieldType>& types = core_->ring_spec.fields;
  if (filling.rows.empty()) return;
  for (std::size_t field = 0; field < types.size(); ++field) {
    if (!types[field].ragged) continue;
    std::vector<std::uint64_t> bytes(filling.descriptor.valid_rows);
    for (std::size_t row = 0; row < bytes.size(); ++row) {
      bytes[row] = filling.ragged_bytes[row * types.size() + field];
    }
    ring_->finish_ragged(field, filling.descriptor.slot, bytes);
  }
}

bool Pass::has_tails() const {
  std::lock_guard lock(marks_mutex_);
  return walk_.has_tails();
}

Result<std::optional<ring::Ring::Reader>> Pass::join(plan::Position position, bool tails,
                                                     const LaneSet& lanes) {
  // One step for who decides by the readers what is not prepared any more.
  std::lock_guard lock(marks_mutex_);
  if (tails && position.epoch < walk_.tails_from()) return std::optional<ring::Ring::Reader>();
  const std::optional<std::uint64_t> sequence = sequence_of(position);
  if (!sequence.has_value()) return std::optional<ring::Ring::Reader>();
  ECHOLINE_ASSIGN(const ring::Ring::Reader reader, ring_->add_reader(*sequence, position));
  if (reader.first_sequence <= *sequence && lanes_.add(lanes, position, planned_position_)) {
    if (tails) walk_.walk_tails();
    return std::optional(reader);
  }
  ring_->remove_reader(reader.id);
  return std::optional<ring::Ring::Reader>();
}

// With marks_mutex_ held: the descriptor at which a reader that wants `position` has to start.
std::optional<std::uint64_t> Pass::sequence_of(plan::Position position) const {
  if (position >= next_position_) {
    // Near ahead: a reader may wait for it here, instead of having it prepared twice.
    const std::uint64_t reach = std::uint64_t{core_->slots} * core_->ring_spec.batch_rows;
    if (position.epoch - next_position_.epoch > 1) return std::nullopt;
    const FactorHistory& factors = walk_.factors();
    const std::uint64_t rows =
        factors.absolute_row(position) - factors.absolute_row(next_position_);
    return rows <= reach ? std::optional(ring_->published()) : std::nullopt;
  }
  for (const Mark& mark : marks_) {
    if (mark.sequence < ring_->released()) continue;
    const bool holds = mark.start.epoch == position.epoch && mark.start.row <= position.row &&
                       position.row < mark.start.row + mark.rows;
    if (holds) return mark.sequence;
  }
  return std::nullopt;
}

void Pass::keep_lanes(const LaneSet& wanted) {
  std::lock_guard lock(marks_mutex_);
  lanes_dropped_ |= lanes_.keep(wanted);
}

plan::Position Pass::next_position() const {
  std::lock_guard lock(marks_mutex_);
  return next_position_;
}

WaitCause Pass::wait_cause() const {
  std::lock_guard lock(marks_mutex_);
  if (head_ == nullptr) {
    return ring_full_.load(std::memory_order_relaxed) ? WaitCause::kPeer : WaitCause::kPublish;
  }
  if (head_->done()) return WaitCause::kPublish;
  if (head_->chunks_fetching.load(std::memory_order_relaxed) > 0) return WaitCause::kFetch;
  return WaitCause::kPrep;
}

}  // namespace echoline::engine
