#include "engine/pass/row_maker.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/account.h"

namespace echoline::engine {
namespace {

// Counts a worker while it is in make_row or make_together.
class WorkerInside {
 public:
  explicit WorkerInside(std::atomic<std::uint32_t>& count) : count_(count) { count_.fetch_add(1); }
  ~WorkerInside() { count_.fetch_sub(1); }
  WorkerInside(const WorkerInside&) = delete;
  WorkerInside& operator=(const WorkerInside&) = delete;

 private:
  std::atomic<std::uint32_t>& count_;
};

// Points `fields` at the memory of a row's fields in the ring.
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

bool has_ragged(const ring::RingSpec& spec) {
  return std::any_of(spec.fields.begin(), spec.fields.end(),
                     [](const decode::FieldType& type) { return type.ragged; });
}

}  // namespace

RowMaker::RowMaker(std::shared_ptr<StreamCore> core, std::shared_ptr<ring::Ring> ring,
                   std::shared_ptr<PassAccount> account, std::uint32_t number)
    : core_(std::move(core)),
      ring_(std::move(ring)),
      account_(std::move(account)),
      number_(number),
      places_in_turn_(core_->preparer->copies_only() && has_ragged(core_->ring_spec)),
      chunk_size_(*core_),
      substitutes_(core_, account_) {}

RowMaker::Made RowMaker::make_row(InFlightBatch& batch, std::uint32_t index, std::size_t worker) {
  // Counted before the flag is read: stop() sets the flag, then waits for the count. Either this
  // worker sees the flag, or stop() sees the worker.
  const WorkerInside inside(workers_inside_);
  if (stopping_.load()) return Made::kStopped;
  batch::WorkerScratch& scratch = core_->worker_scratch[worker];
  const std::uint64_t begin_ns = account_ns();
  RowTimer timer(scratch.sampler, *core_->recorder, worker);
  bool first_use = false;
  const Made made = fill_row({batch, index, scratch, timer}, first_use);
  if (made != Made::kDone) return made;
  count_time(timer, begin_ns, first_use, 1);
  return made;
}

void RowMaker::make_together(InFlightBatch& batch, std::uint32_t begin, std::uint32_t end,
                             std::size_t worker) {
  const WorkerInside inside(workers_inside_);
  const std::uint32_t rows_max = chunk_size_.group_rows();
  // Rows that take their places in turn are only copied.
  if (rows_max == 1 || end - begin == 1 || batch.turns) return;
  for (const bool of_kept : {false, true}) {
    if (!RowGroup::is_possible(*core_, of_kept)) continue;
    for (std::uint32_t next = begin; next < end && !stopping_.load();)
      next = make_group(batch, next, std::min(end, next + rows_max), of_kept, worker);
  }
}

std::uint32_t RowMaker::make_group(InFlightBatch& batch, std::uint32_t begin, std::uint32_t end,
                                   bool of_kept, std::size_t worker) {
  batch::WorkerScratch& scratch = core_->worker_scratch[worker];
  const std::uint64_t begin_ns = account_ns();
  RowTimer timer(scratch.sampler, *core_->recorder, worker);
  RowGroup group(*core_, batch.rows, scratch, of_kept);
  const std::uint32_t next = group.add(begin, end);
  if (group.members().empty()) return next;
  group.run(&stopping_);
  std::uint64_t rows = 0;
  for (RowGroup::Member& member : group.members()) {
    bool first_use = false;
    const Made made = fill_row({batch, member.index, *member.scratch, timer, &member}, first_use);
    member.claim.reset();
    batch.rows[member.index].made = made == Made::kDone;
    rows += made == Made::kDone ? 1 : 0;
  }
  if (rows != 0) count_time(timer, begin_ns, !of_kept, rows);
  return next;
}

RowMaker::Made RowMaker::fill_row(const RowWork& row, bool& first_use) {
  // Rows of a batch belong to one chunk each, so no other worker writes this row.
  InFlightBatch& batch = row.batch;
  const InFlightRow& planned = batch.rows[row.index];
  batch::WorkerScratch& scratch = row.scratch;
  echo::Item& item = *planned.item;
  point_at_row(*ring_, batch.descriptor, planned.row, scratch.row_fields);
  const std::size_t fields = scratch.row_fields.size();
  batch::RowTarget target{scratch.row_fields,
                          std::span(batch.ragged_bytes).subspan(planned.row * fields, fields)};
  const auto place = [&] { place_in_turn(batch, target, scratch); };
  if (batch.turns) target.place = std::ref(place);  // a reference needs no allocation

  MutexLock lock(item.mutex);
  if (row.member == nullptr) item.await_unclaimed(lock);
  // A substitute whose bytes have not arrived, for example.
  if (!item.ready()) return Made::kNotYet;
  // The encoded bytes are used under the lock, or with a claim: prepare_encoded may replace them by
  // the kept form.
  first_use = item.has_encoded();
  // Another worker has replaced the record since the group began: this row begins again, alone.
  if (row.member != nullptr && row.member->attempt != item.attempt) return Made::kNotYet;
  // Read before preparing: these words describe the bytes that are prepared now.
  const std::uint64_t sample = item.record;
  const bool replaced = item.attempt > 0;
  row.timer.note_row(number_, batch.number, planned.row, sample, planned.use);
  // Users' code can take seconds, and nobody wants the row of a pass that ends.
  scratch.augment_scratch->stop_with(&stopping_);
  const UseKey key = use_key(*core_, item, planned.use);
  Status status;
  auto blame = batch::Blame::kUse;
  if (first_use) {
    status =
        core_->preparer->prepare_encoded(item, key, planned.used_again, scratch, target, blame);
  } else {
    // The kept form never changes, so other rows can read it at the same time.
    lock.unlock();
    status = core_->preparer->prepare_kept(item, key, scratch, target);
    lock.lock();
  }
  if (status.code() == Code::kCancelled) return Made::kStopped;
  if (!status.ok()) {
    const std::shared_ptr<echo::Item> shared = planned.item;  // as long as it is locked
    const bool counts = blame != batch::Blame::kUse || separate_use(row, item, first_use);
    const std::uint32_t attempt = item.attempt;
    lock.unlock();
    return substitutes_.replace(*planned.item, attempt, status, counts) ? Made::kNotYet
                                                                        : Made::kStopped;
  }
  if (first_use) {
    // Gives back the read-ahead of the record, also where the sample is kept for other uses.
    account_->count_used(item.ahead_bytes());
    item.used();
  }
  write_row_words(batch, planned, sample, replaced);
  row.timer.note_made();
  return Made::kDone;
}

bool RowMaker::separate_use(const RowWork& row, echo::Item& item, bool first_use) {
  InFlightRow& planned = row.batch.rows[row.index];
  planned.item = substitutes_.separate(item, first_use);
  planned.used_again = false;
  return !std::exchange(item.is_counted_bad, true);
}

void RowMaker::place_in_turn(InFlightBatch& batch, const batch::RowTarget& target,
                             batch::WorkerScratch& scratch) {
  Chunk* const next = batch.turns->take(target.ragged_bytes, scratch.row_begins);
  const std::vector<decode::FieldType>& types = core_->ring_spec.fields;
  for (std::size_t field = 0; field < types.size(); ++field) {
    if (!types[field].ragged) continue;
    std::byte* const values = ring_->ragged_row(field, batch.descriptor.slot, 0);
    scratch.row_fields[field] = {values + scratch.row_begins[field], target.ragged_bytes[field]};
  }
  // At once: another worker copies the next row while this one copies its own.
  if (next != nullptr) next->continue_in_turn();
}

void RowMaker::count_time(RowTimer& timer, std::uint64_t begin_ns, bool first_use,
                          std::uint64_t count) {
  const std::uint64_t spent_ns = account_ns() - begin_ns;
  timer.count(spent_ns, first_use, core_->counters->steps, count);
  if constexpr (!kKeepsAccount) return;
  StreamCounters& counters = *core_->counters;
  auto& ns = first_use ? counters.prepare_first_ns : counters.prepare_again_ns;
  auto& rows = first_use ? counters.prepare_first_rows : counters.prepare_again_rows;
  ns.fetch_add(spent_ns, std::memory_order_relaxed);
  rows.fetch_add(count, std::memory_order_relaxed);
}

// What each row tells its trainer: written with the row, read after the batch was published.
void RowMaker::write_row_words(InFlightBatch& batch, const InFlightRow& planned,
                               std::uint64_t sample, bool replaced) {
  const std::uint64_t arena_row = batch.descriptor.arena_row + planned.row;
  *ring_->sample_ids(arena_row) = sample;
  *ring_->uses(arena_row) = planned.use;
  *ring_->row_flags(arena_row) = replaced ? static_cast<std::uint32_t>(shm::kRowReplaced) : 0;
  // Chunks of a batch run on different workers, so the sum is atomic.
  if (replaced) batch.replaced_rows.fetch_add(1, std::memory_order_relaxed);
}

void RowMaker::finish_ragged(const InFlightBatch& batch) {
  const std::vector<decode::FieldType>& types = core_->ring_spec.fields;
  // A repeat: its slot was compacted with the first use.
  if (batch.rows.empty()) return;
  for (std::size_t field = 0; field < types.size(); ++field) {
    if (!types[field].ragged) continue;
    std::vector<std::uint64_t> bytes(batch.descriptor.valid_rows);
    for (std::size_t row = 0; row < bytes.size(); ++row) {
      bytes[row] = batch.ragged_bytes[row * types.size() + field];
    }
    if (batch.turns) {
      ring_->write_offsets(field, batch.descriptor.slot, bytes);
    } else {
      ring_->finish_ragged(field, batch.descriptor.slot, bytes);
    }
  }
}

void RowMaker::stop() {
  stopping_.store(true);
  // A row takes at most some milliseconds, with users' code about a second, and a pass ends rarely.
  while (workers_inside_.load() != 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

}  // namespace echoline::engine
