// Which record is used when: a pure function of (seed, epoch, row, factor list). Integers only; no
// bytes, no clock, no threads. docs/semantics.md describes the order, from "Rows" to "The last
// batch".
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/status.h"
#include "plan/epoch_plan.h"
#include "plan/plan_spec.h"

namespace echoline::plan {

struct StreamOrder;

// The order of a stream. Immutable; any thread may call it. Copies share their state.
class Plan {
 public:
  // kInvalidArgument where the order can't fulfil the spec; the message names the configuration's
  // key and what to change.
  static Result<std::unique_ptr<Plan>> create(PlanSpec spec);

  const PlanSpec& spec() const;
  // Records of an epoch, N: those of the data set, the entries of a list, or the rows of a mixture.
  std::uint64_t record_count() const;
  // A record of an epoch, `place` being below record_count(): of the data set in its own order, or
  // of the epoch's list. Of a mixture, a record of the source that has this row.
  std::uint64_t record_at(std::uint32_t epoch, std::uint64_t place) const;
  // The record that a draw of any size chooses instead of a bad one: any record_at() of the epoch,
  // but of no later bucket than its batch, and in a mixture of the same source.
  std::uint64_t substitute(std::uint32_t epoch, std::uint64_t record, std::uint64_t draw) const;
  // Rows of an epoch without factor changes: floor(N * factor). Under batch echo
  // floor(batches * factor) * batch_rows; with buckets and without batch echo batches * batch_rows.
  std::uint64_t rows_per_epoch() const;
  // How many of an epoch's row numbers have a record. All, except with buckets, whose batches do
  // not use all of theirs; with batch echo, too, that is a mean.
  std::uint64_t valid_rows(std::uint64_t rows) const;
  // Blocks in which the echo step admits the items of each lane; 0 without an echo step, and within
  // a step, where the factor cannot change.
  std::uint64_t block_count() const;
  // The most items (records; batches under batch echo) that are held for a later use, not counting
  // one per lane that is being delivered; 0 without an echo step.
  std::uint64_t kept_max() const;
  // Accepts at most kChangesMax changes with ascending blocks, each with a factor and a block where
  // a change may begin (see ChangeLimits).
  Status check_changes(std::span<const FactorChange> changes) const;
  // Accepts changes of a mixture's weights with ascending rows, at most kWeightChangesMax (see
  // mix_check.h), which do not change the number of rows of an epoch.
  Status check_weights(std::span<const WeightChange> weights) const;
  // With PlanSpec::fixed_batches, row / batch_rows is the batch, or the use of one. `changes` have
  // passed check_changes; a change at block 0 is the factor that the epoch begins with, else it is
  // the spec's. Time and memory grow with shards, lanes and the repetitions of the sources of a
  // mixture, not with records.
  // `weights` have passed check_weights.
  std::unique_ptr<EpochPlan> epoch(std::uint32_t epoch, std::span<const FactorChange> changes,
                                   std::span<const WeightChange> weights = {}) const;

 private:
  explicit Plan(PlanSpec checked);

  bool echoes() const;
  bool repeats_batches() const;

  std::shared_ptr<const StreamOrder> stream_;  // shared with the epochs
};

}  // namespace echoline::plan
