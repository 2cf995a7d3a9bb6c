// How many batches each bucket gives to an epoch: the same in all epochs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/buckets.h"
#include "plan/plan_spec.h"

namespace echoline::plan {

// Records that do not fill a batch of their bucket go on to the next bucket, whose lengths they do
// not exceed. So an epoch has one short batch at most, of the last bucket. Immutable.
class BucketBatches {
 public:
  // The items of a bucket are the ones that the bucket before it left, then its own records.
  struct Bucket {
    std::uint64_t carried = 0;      // of the items
    std::uint64_t items = 0;        // in all
    std::uint32_t batch_items = 1;  // of a whole batch; each has `uses` rows
    std::uint64_t first_batch = 0;  // whole batches of the buckets before it
    std::uint64_t batches = 0;      // whole ones
    std::uint64_t rest() const { return items - batches * batch_items; }
  };

  // Only for a spec with buckets.
  explicit BucketBatches(const PlanSpec& spec);

  const Bucket& operator[](std::size_t bucket) const { return buckets_[bucket]; }
  // The bucket of a whole batch, where they are counted bucket after bucket.
  std::size_t bucket_of_batch(std::uint64_t batch) const;
  std::uint64_t whole_batches() const { return whole_; }
  // With the short one, unless it is dropped.
  std::uint64_t count() const { return whole_ + (short_items_ > 0 ? 1 : 0); }
  std::uint32_t short_items() const { return short_items_; }  // 0: there is no short batch
  std::uint32_t uses() const { return uses_; }
  // Of all batches.
  std::uint64_t rows() const;

 private:
  std::vector<Bucket> buckets_;
  std::uint64_t whole_ = 0;
  std::uint32_t short_items_ = 0;
  std::uint32_t uses_ = 1;  // of an item within its batch
};

}  // namespace echoline::plan
