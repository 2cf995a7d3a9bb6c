// Which record is used when: a pure function of (seed, epoch, row, factor list). Integers only; no
// bytes, no clock, no threads. What docs/semantics.md promises, from Rows to The last batch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"

namespace echoline::plan {

enum class EchoPoint : std::uint8_t { kNone, kRecord, kSample, kAugmented, kBatch };
enum class LastBatch : std::uint8_t { kDrop, kPartial, kPad };

// Changes whenever any order changes; part of the fingerprint and of every state.
inline constexpr std::uint32_t kPlanVersion = 1;

inline constexpr std::uint64_t kWindowAll = ~std::uint64_t{0};

// What the order depends on. Factors are in thousandths.
struct PlanSpec {
  std::uint64_t seed = 0;
  std::uint32_t lanes = 1;
  std::uint32_t batch_rows = 1;
  std::uint64_t shuffle_window = 0;  // 0: the order of the index; kWindowAll: a full permutation
  EchoPoint echo_point = EchoPoint::kNone;
  std::uint32_t factor = 1000;
  std::uint32_t factor_max = 0;   // the largest factor of any change; 0: `factor`
  std::uint64_t echo_window = 0;  // records kept, or batches under batch echo
  bool allow_repeats = false;
  LastBatch last = LastBatch::kDrop;  // matters under batch echo: which batches there are to repeat
  std::vector<std::uint64_t> shard_records;  // records of each shard, in index order
};

// From block `block` of an epoch on, records are admitted with this factor.
struct FactorChange {
  std::uint64_t block = 0;
  std::uint32_t factor = 1000;
  bool operator==(const FactorChange&) const = default;
};

// What stands at one row.
struct RowUse {
  std::uint64_t record = 0;  // sample id
  std::uint32_t use = 0;     // counts from 0
  std::uint32_t uses = 1;    // planned uses of this record in this epoch
  bool valid = true;         // false only for rows that a short batch under batch echo lacks
  bool fresh() const { return use == 0; }
};

// The order of one epoch under one factor list. Immutable; any thread may read it. Outlives its
// Plan. A row or step at or beyond the end is a programmer's error. `use` and `uses` are right at
// any row, so a walk that starts anywhere knows which rows are an item's last; it holds no more
// items at a time than a walk from row 0.
class EpochPlan {
 public:
  virtual ~EpochPlan() = default;
  virtual std::uint64_t rows() const = 0;
  virtual RowUse at(std::uint64_t row) const = 0;
  // Rows [row, row + out.size()) at the sequential rate; each call finds its place anew, once a
  // lane, so thousands of rows a call are best. A range beyond the epoch is a programmer's error.
  virtual void read(std::uint64_t row, std::span<RowUse> out) const = 0;
  // Under batch echo: which fresh batch (in `record`) and which of its uses stands at a step; fresh
  // batch f is rows [f * batch_rows, (f + 1) * batch_rows) of the epoch's records in shuffled
  // order. Otherwise the step itself, used once.
  virtual RowUse batch_at(std::uint64_t step) const = 0;
  // Valid rows of a step of the stream's own grid: they come first in the batch. Less than
  // batch_rows under batch echo for each use of the short batch, otherwise at the epoch's end.
  virtual std::uint32_t valid_rows(std::uint64_t step) const = 0;
  // The first block of the echo step none of whose rows, in any lane, is below `row`: the earliest
  // at which a factor change leaves rows [0, row) as they are. Plan::check_changes has the last
  // word.
  virtual std::uint64_t next_block(std::uint64_t row) const = 0;
};

// The order of a stream. Immutable; any thread may read it.
class Plan {
 public:
  // kInvalidArgument, with the configuration's key and what to change, where the spec cannot be
  // kept.
  static Result<std::unique_ptr<Plan>> create(PlanSpec spec);
  virtual ~Plan() = default;

  virtual const PlanSpec& spec() const = 0;
  virtual std::uint64_t record_count() const = 0;
  // Rows of an epoch without factor changes: floor(N * factor); under batch echo
  // floor(batches * factor) * batch_rows.
  virtual std::uint64_t rows_per_epoch() const = 0;
  // Blocks in which each lane's items are admitted to the echo step; 0 without one.
  virtual std::uint64_t block_count() const = 0;
  // Items (records, or under batch echo batches) held for a later use at most, beside one in
  // delivery a lane; 0 without echo.
  virtual std::uint64_t kept_max() const = 0;
  // At most 64, ascending, within the factors and blocks where a change may begin.
  virtual Status check_changes(std::span<const FactorChange> changes) const = 0;
  // Under batch echo rows stand for whole batches laid end to end: row / batch_rows is the use of a
  // batch. `changes` have passed check_changes; one at block 0 is the factor the epoch begins with,
  // else the spec's. Takes time and memory for the shards and lanes, not for the records.
  virtual std::unique_ptr<EpochPlan> epoch(std::uint32_t epoch,
                                           std::span<const FactorChange> changes) const = 0;
};

}  // namespace echoline::plan
