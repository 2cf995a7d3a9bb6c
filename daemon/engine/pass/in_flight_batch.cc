#include "engine/pass/in_flight_batch.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "engine/open/stream_core.h"
#include "engine/pass/chunk_size.h"
#include "engine/pass/row_maker.h"

namespace echoline::engine {
namespace {

// Where each chunk ends. A chunk waits for the bytes of all its rows, so large records get chunks
// of their own.
std::vector<std::uint32_t> chunk_ends(const std::vector<InFlightRow>& rows,
                                      const ChunkLimits& limits) {
  std::vector<std::uint32_t> ends;
  std::uint32_t begin = 0;
  std::uint64_t bytes = 0;
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    const std::uint64_t fresh_bytes = rows[row].fresh_bytes;
    // A chunk has at least one row, however large its record is.
    if (row > begin && (row - begin == limits.rows || bytes + fresh_bytes > limits.bytes)) {
      ends.push_back(row);
      begin = row;
      bytes = 0;
    }
    bytes += fresh_bytes;
  }
  // The last chunk ends with the batch.
  ends.push_back(static_cast<std::uint32_t>(rows.size()));
  return ends;
}

}  // namespace

void InFlightBatch::start_chunks(std::shared_ptr<RowMaker> row_maker,
                                 std::uint64_t mean_record_bytes, std::size_t field_count) {
  // Kept by the batch: a queued chunk may outlive the pass, and still needs the row maker to stop.
  maker = std::move(row_maker);
  if (maker->places_in_turn()) turns.emplace(field_count);
  // Zero for rows that are not made here, so their ragged fields are empty.
  ragged_bytes.resize(std::size_t{descriptor.valid_rows} * field_count);
  std::uint32_t begin = 0;
  for (const std::uint32_t end : chunk_ends(rows, maker->chunk_size().limits(mean_record_bytes))) {
    chunks.emplace_back(*this, std::exchange(begin, end), end);
  }
  // Before any chunk starts: the batch is done when the count reaches zero.
  chunks_left.store(static_cast<std::uint32_t>(chunks.size()), std::memory_order_relaxed);
  for (Chunk& chunk : chunks) chunk.start();
}

// Shares the batch's count: a holder of the chunk keeps the batch that owns it.
std::shared_ptr<Chunk> Chunk::shared() { return {batch_.shared_from_this(), this}; }

void Chunk::start() {
  // One more than the missing items, so that the chunk is not queued before all were looked at.
  pending_.store(1);
  batch_.chunks_fetching.fetch_add(1, std::memory_order_relaxed);
  for (std::uint32_t row = begin_; row < end_; ++row) {
    pending_.fetch_add(1);
    // Registered after the count: item_ready() may run on another thread before wait() returns.
    if (!batch_.rows[row].item->wait(shared())) pending_.fetch_sub(1);
  }
  item_ready();
}

void Chunk::item_ready() {
  // Only the call that brings the count to zero goes on.
  if (pending_.fetch_sub(1) != 1) return;
  // From here on it waits for a worker, not for bytes.
  if (batch_.chunks_fetching.fetch_sub(1, std::memory_order_relaxed) == 1) {
    // Later chunks may wait again: the last time counts.
    batch_.bytes_ns.store(batch_.maker->recorder().now_ns(), std::memory_order_relaxed);
  }
  batch_.maker->pool().push(shared());
}

void Chunk::continue_in_turn() { batch_.maker->pool().push_first(shared()); }

bool Chunk::wait_for(echo::Item& item) {
  batch_.chunks_fetching.fetch_add(1, std::memory_order_relaxed);
  // One item is missing, so the count needs no extra one. Set before the chunk is registered.
  pending_.store(1);
  if (item.wait(shared())) return true;
  // The bytes came between make_row and here: the chunk runs on without being queued.
  pending_.store(0);
  batch_.chunks_fetching.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

void Chunk::trace_idle(std::size_t worker) const {
  const std::uint64_t since_ns = std::exchange(trace::idle_since_ns(), 0);
  trace::Recorder& recorder = batch_.maker->recorder();
  if (since_ns == 0 || !recorder.on()) return;
  trace::Span wait{.group = trace::Group::kWorkers, .track = static_cast<std::uint32_t>(worker)};
  const auto add = [&](const char* cause, std::uint64_t begin_ns, std::uint64_t end_ns) {
    wait.begin_ns = begin_ns;
    wait.end_ns = end_ns;
    wait.cause = cause;
    if (begin_ns < end_ns) recorder.add(wait);
  };
  // Before its batch had a slot, nothing could be done for it; after that, bytes were missing.
  const std::uint64_t now_ns = monotonic_ns();
  const std::uint64_t slot_ns = std::clamp(batch_.begin_ns, since_ns, now_ns);
  add("slots", since_ns, slot_ns);
  add("bytes", slot_ns, now_ns);
}

void Chunk::run(std::size_t worker) {
  trace_idle(worker);
  if (!std::exchange(tried_together_, true)) {
    batch_.maker->make_together(batch_, begin_, end_, worker);
  }
  while (next_ < end_) {
    if (batch_.rows[next_].made) {
      ++next_;
      continue;
    }
    // From here on another worker may run this chunk, so nothing of it may be used.
    if (batch_.turns && !batch_.turns->is_next(next_, *this)) return;
    switch (batch_.maker->make_row(batch_, next_, worker)) {
      case RowMaker::Made::kDone:
        ++next_;
        break;
      // The chunk does not count as done, so the batch is never published.
      case RowMaker::Made::kStopped:
        return;
      case RowMaker::Made::kNotYet:
        // From here on another worker may run this chunk, so nothing of it may be used.
        if (wait_for(*batch_.rows[next_].item)) return;
        break;
    }
  }
  if (const std::uint64_t now_ns = batch_.maker->recorder().now_ns(); now_ns != 0) {
    batch_.made_ns.store(now_ns, std::memory_order_relaxed);
  }
  // The last chunk publishes the rows of all chunks to the pass's thread (release), and wakes it.
  if (batch_.chunks_left.fetch_sub(1, std::memory_order_acq_rel) == 1) batch_.maker->wake_pass();
}

}  // namespace echoline::engine
