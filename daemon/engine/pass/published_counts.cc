#include "engine/pass/published_counts.h"

#include "base/clock.h"

namespace echoline::engine {
namespace {

// Of a mixture: which sources the rows are from. Rows that other hosts prepare are not known.
void count_sources(const StreamCore& core, ring::Ring& ring, const InFlightBatch& batch) {
  if (!core.plan->spec().mix) return;
  const auto count = [&](std::uint32_t row) {
    const std::uint64_t record = *ring.sample_ids(batch.descriptor.arena_row + row);
    auto& rows = core.counters->source_rows[core.data_set->part_of(record)];
    rows.fetch_add(1, std::memory_order_relaxed);
  };
  for (const InFlightRow& row : batch.rows) count(row.row);
  if (!batch.rows.empty() || batch.others_rows > 0) return;
  // It repeats a slot.
  for (std::uint32_t row = 0; row < batch.descriptor.valid_rows; ++row) count(row);
}

}  // namespace

void count_published(const StreamCore& core, ring::Ring& ring, const InFlightBatch& batch) {
  StreamCounters& counters = *core.counters;
  counters.batches.fetch_add(1, std::memory_order_relaxed);
  const std::uint32_t rows = batch.descriptor.valid_rows - batch.others_rows;
  const std::uint32_t fresh = batch.descriptor.fresh_rows - batch.others_fresh;
  counters.samples_fresh.fetch_add(fresh, std::memory_order_relaxed);
  counters.samples_echoed.fetch_add(rows - fresh, std::memory_order_relaxed);
  count_sources(core, ring, batch);
  std::uint64_t never = 0;
  counters.first_batch_ns.compare_exchange_strong(never, monotonic_ns() - core.created_ns);
}

}  // namespace echoline::engine
