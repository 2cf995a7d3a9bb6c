// The trainer's position in the order of rows, and how it moves: by batches, by epochs, by skips.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "loader/factor_changes.h"
#include "loader/weight_changes.h"
#include "mapped_ring/rank_slice.h"
#include "mapped_ring/ring_view.h"
#include "state/position.h"
#include "system/error.h"

namespace echoline::client {

// One thread at a time (the loader's lock). `current()` is where the next batch begins: after the
// last batch of an epoch it is row 0 of the next epoch.
class StreamPosition {
 public:
  void set_slice(const RankSlice& slice) { slice_ = slice; }
  // Continues at `position` in this ring. The ring must outlive the next call of attach() or
  // follow(), or the last call on this object.
  Error attach(const RingView& ring, const Position& position);
  // Reads the header and the logs of changes from this ring; the position stays.
  Error follow(const RingView& ring);

  const Position& current() const { return current_; }
  const RankSlice& slice() const { return slice_; }
  const FactorChanges& changes() const { return changes_; }
  const shm::RingHeader& header() const { return ring_->header(); }
  bool has(shm::RingFlag flag) const { return (header().flags & flag) != 0; }

  // Every batch is one descriptor and has batch_rows row numbers, also if it has fewer rows.
  bool has_fixed_batches() const { return has(shm::kRingBatchEcho) || has(shm::kRingBuckets); }

  // Reads new entries of the logs of changes. Call it after reading `published`: then every
  // change that affects a published row is known.
  Error update_changes();
  // Rows of the current epoch, if known: from the plan, or from a descriptor that ended it.
  std::optional<std::uint64_t> epoch_rows() const;
  // Whether a descriptor gave the end of the current epoch.
  bool epoch_end_is_known() const { return epoch_rows_.has_value(); }
  // Whether no batch is left in the current epoch, as far as is known.
  bool epoch_is_over() const;
  // The lowest row that the batch at the position, or a later one, can need.
  std::uint64_t first_row_needed() const;

  // Sets the rows of the current epoch, as a descriptor says.
  void set_epoch_rows(std::uint64_t rows) { epoch_rows_ = rows; }
  void enter_next_epoch();
  // Moves past one batch that the trainer got.
  void advance(bool last_of_epoch);
  // Whether END_OF_EPOCH is still to be returned to the trainer; clears the mark.
  bool take_pending_end();
  // See echoline_begin_epoch; returns whether the position moved.
  bool begin_epoch();
  // See echoline_skip.
  Error skip(std::uint64_t steps);

  // The changes of the echo factor for a state at this position.
  std::vector<shm::FactorEntry> changes_of_state();
  // All known changes from the current epoch on.
  std::vector<shm::FactorEntry> changes_known();
  // The same of the weights of a mixture.
  std::vector<shm::WeightEntry> weights_of_state();
  std::vector<shm::WeightEntry> weights_known();
  // Batches of a whole epoch; none if epochs differ in length or may do so later.
  std::optional<std::uint64_t> steps_per_epoch();
  // Whether the factor was changed or can change.
  bool is_variable();

 private:
  // Skips where the lengths of epochs are known.
  Error skip_to_known_epoch(std::uint64_t steps, std::uint64_t left);

  const RingView* ring_ = nullptr;
  RankSlice slice_;
  Position current_;
  FactorChanges changes_;
  WeightChanges weights_;
  std::optional<std::uint64_t> epoch_rows_;  // of the current epoch, as a descriptor said
  bool begun_ = false;        // the trainer got a batch of the current epoch since begin_epoch()
  bool pending_end_ = false;  // the next call of the trainer returns END_OF_EPOCH
};

}  // namespace echoline::client
