// The order of the rows of one epoch.
#pragma once

#include <cstdint>
#include <span>

#include "plan/plan_spec.h"

namespace echoline::plan {

// What the batches of a step's kind have in common.
struct BatchForm {
  std::uint32_t rows = 0;    // of a whole one
  std::uint64_t length = 0;  // largest length of its records; 0 without buckets
};

// The order of one epoch under one list of factors and one of weights: RowEpoch, BucketEpoch with
// buckets, or BatchEpoch under batch echo. Immutable; any thread may call it. It may outlive its
// Plan. A row or step at or beyond the end is a bug of the caller and aborts. `use` and `uses` are
// right at any row, so a walk that starts anywhere knows which rows are the last use of an item; it
// holds no more items at a time than a walk from row 0.
class EpochPlan {
 public:
  virtual ~EpochPlan() = default;
  virtual std::uint64_t rows() const = 0;
  virtual RowUse at(std::uint64_t row) const = 0;
  // Reads rows [row, row + out.size()) one after the other, faster than at(). Each call first
  // searches its start in every lane, so read thousands of rows per call. The range must be within
  // the epoch.
  virtual void read(std::uint64_t row, std::span<RowUse> out) const = 0;
  // Under batch echo: the fresh batch (in `record`) of a step, and which of its uses the step is.
  // Fresh batch f is rows [f * batch_rows, (f + 1) * batch_rows) of the order without echo. Without
  // batch echo: the step itself, used once.
  virtual RowUse batch_at(std::uint64_t step) const = 0;
  virtual BatchForm form(std::uint64_t step) const = 0;
  // Valid rows of a step of batch_rows rows; they are the first rows of the batch. Less than those
  // of its form for each use of a short batch under batch echo, else only at the epoch's end.
  virtual std::uint32_t valid_rows(std::uint64_t step) const = 0;
  // The first block of the echo step that has no row below `row` in any lane: the earliest block at
  // which a factor change leaves rows [0, row) unchanged. Plan::check_changes may still refuse it.
  virtual std::uint64_t next_block(std::uint64_t row) const = 0;
  // The first row without echo from which on rows [0, row) have nothing: the earliest one at which
  // a change of a mixture's weights leaves them unchanged. Only of a mixture.
  virtual std::uint64_t next_item(std::uint64_t row) const = 0;
};

}  // namespace echoline::plan
