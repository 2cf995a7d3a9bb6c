// One epoch of batches of similar lengths.
#pragma once

#include <memory>
#include <vector>

#include "plan/epoch_plan.h"
#include "plan/permutation.h"
#include "plan/stream_order.h"

namespace echoline::plan {

// The items of each bucket are permuted and cut into batches, and the whole batches of all buckets
// are permuted; without a shuffle, both keep their order. Step s has the rows from s * batch_rows
// on; the rows that its batch does not have are not valid. Immutable; any thread may call it.
class BucketEpoch : public EpochPlan {
 public:
  // Only for a stream with buckets.
  BucketEpoch(std::shared_ptr<const StreamOrder> stream, std::uint32_t epoch);

  std::uint64_t rows() const override;
  RowUse at(std::uint64_t row) const override;
  void read(std::uint64_t row, std::span<RowUse> out) const override;
  RowUse batch_at(std::uint64_t step) const override { return {.record = step}; }
  BatchForm form(std::uint64_t step) const override;
  std::uint32_t valid_rows(std::uint64_t step) const override;
  std::uint64_t next_item(std::uint64_t) const override { return 0; }
  std::uint64_t next_block(std::uint64_t) const override { return 0; }

 private:
  struct Batch {
    std::size_t bucket = 0;
    std::uint64_t first = 0;  // item of the bucket, in permuted order
    std::uint32_t items = 0;
  };
  Batch batch_of(std::uint64_t step) const;
  // The record of an item of a bucket, which may be one that an earlier bucket left.
  std::uint64_t record(std::size_t bucket, std::uint64_t item) const;
  void read_batch(std::uint64_t step, std::uint64_t first, std::span<RowUse> out) const;

  std::shared_ptr<const StreamOrder> stream_;
  std::vector<Permutation> items_;  // of each bucket; without a shuffle empty
  Permutation batches_;
};

}  // namespace echoline::plan
