#include "loader/slot_demand.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace echoline::client {
namespace {

// The most descriptors that a run of `rows` rows can touch, if runs start at `start` plus multiples
// of `unit` and each descriptor has `stride` rows.
std::uint64_t descriptors_spanned(std::uint64_t rows, std::uint64_t unit, std::uint64_t start,
                                  std::uint64_t stride) {
  // Runs start at multiples of gcd(unit, stride) within a descriptor, shifted by `start`.
  const std::uint64_t grid = std::gcd(unit, stride);
  const std::uint64_t offset_max = stride - grid + start % grid;
  return (offset_max + rows - 1) / stride + 1;
}

// Descriptors from a rank's part of an epoch's last batch to its part of the first batch of the
// next epoch. Between the two are the rows that `last: drop` leaves out, and a short descriptor
// may end the epoch. The epoch has `epoch_rows` rows and its batches start at `start`.
std::uint64_t descriptors_across_border(const RankSlice& slice, std::uint64_t start,
                                        std::uint64_t epoch_rows, std::uint64_t next_rows,
                                        std::uint64_t stride) {
  const std::uint64_t steps = steps_between(slice, start, epoch_rows);
  // No batch is left in the epoch.
  if (steps == 0) return 0;
  const std::uint64_t last = start + (steps - 1) * slice.batch_size;
  const RankRows before = rank_rows(slice, std::min(slice.batch_size, epoch_rows - last));
  const RankRows after = rank_rows(slice, std::min(slice.batch_size, next_rows));
  const std::uint64_t epoch_descriptors = (epoch_rows + stride - 1) / stride;
  return epoch_descriptors - (last + before.first_row()) / stride +
         (after.last_row() - 1) / stride + 1;
}

// The most descriptors that must be live at the same time, over all batches from the position on.
std::uint64_t descriptors_needed(const StreamPosition& position, bool overlap) {
  const RankSlice& slice = position.slice();
  const Position& current = position.current();
  const std::uint64_t stride = position.header().batch_rows;
  const std::uint64_t rows = slice.batch_size / slice.world_size;
  // The trainer holds one batch at a time.
  if (!overlap) return descriptors_spanned(rows, rows, current.row, stride);
  // Two batches: from the first row of one to the last row of the next.
  const std::uint64_t within =
      descriptors_spanned(rows + slice.batch_size, rows, current.row, stride);
  // On the stream's own grid every batch is one descriptor, also at the end of an epoch.
  const bool on_own_grid = slice.batch_size == stride && current.row % stride == 0;
  if (on_own_grid || position.has(shm::kRingVariable)) return within;
  // The two batches may be in different epochs. Check each known transition of epoch lengths.
  const FactorChanges& changes = position.changes();
  const auto across = [&](std::uint32_t epoch, std::uint64_t start) {
    return descriptors_across_border(slice, start, changes.rows(epoch), changes.rows(epoch + 1),
                                     stride);
  };
  std::uint64_t most = std::max(within, across(current.epoch, current.row));
  for (const std::uint32_t epoch : changes.border_epochs(current.epoch + 1)) {
    most = std::max(most, across(epoch, 0));
  }
  return most;
}

// Rows of the smallest arena of a fixed field: the longest contiguous run of rows.
std::uint64_t arena_rows(const RingView& ring) {
  std::uint64_t rows = ring.sample_id_field().arena_rows;
  for (const Field& field : ring.fields()) {
    if (!field.ragged) rows = std::min(rows, field.arena_rows);
  }
  return rows;
}

}  // namespace

Error check_fit(const RingView& ring, const StreamPosition& position, bool overlap) {
  const shm::RingHeader& h = ring.header();
  const RankSlice& slice = position.slice();
  if (slice.batch_size == 0 || slice.batch_size % slice.world_size != 0) {
    return {ECHOLINE_INVALID_ARGUMENT,
            "the batch of " + std::to_string(slice.batch_size) +
                " rows (of all ranks together) is not divisible by world_size " +
                std::to_string(slice.world_size)};
  }
  if (position.has_fixed_batches() && slice.batch_size != h.batch_rows) {
    return {ECHOLINE_INVALID_ARGUMENT,
            "with batch echo or buckets jobs use the stream's own batch size, " +
                std::to_string(h.batch_rows)};
  }
  const std::uint64_t rows = slice.batch_size / slice.world_size;
  const std::uint64_t needed = descriptors_needed(position, overlap);
  if (needed > h.descriptors_live || rows > arena_rows(ring)) {
    return {ECHOLINE_RESOURCE_EXHAUSTED,
            std::string(overlap ? "a batch and the one before it" : "a batch") + ", " +
                std::to_string(rows) + " rows a rank, need " + std::to_string(needed) +
                " slots of the stream at once, it has " + std::to_string(h.descriptors_live) +
                "; raise publish.slots or take a smaller batch_size"};
  }
  const std::uint64_t epoch_rows = position.changes().rows(position.current().epoch + 1);
  if (!position.has(shm::kRingVariable) && steps_between(slice, 0, epoch_rows) == 0) {
    return {ECHOLINE_INVALID_ARGUMENT,
            "a batch of " + std::to_string(slice.batch_size) + " rows is more than an epoch's " +
                std::to_string(epoch_rows) + ", and last: drop leaves nothing of it"};
  }
  return {};
}

}  // namespace echoline::client
