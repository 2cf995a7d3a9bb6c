#include "plan/bucket_batches.h"

#include <algorithm>

namespace echoline::plan {

BucketBatches::BucketBatches(const PlanSpec& spec) {
  if (spec.within_step) uses_ = spec.factor / 1000;
  const Buckets& buckets = *spec.buckets;
  std::uint64_t rest = 0;
  for (std::size_t i = 0; i < buckets.count(); ++i) {
    Bucket& bucket = buckets_.emplace_back();
    bucket.carried = rest;
    bucket.items = rest + buckets.size(i);
    bucket.batch_items = buckets.shape(i).rows / uses_;
    bucket.first_batch = whole_;
    bucket.batches = bucket.items / bucket.batch_items;
    whole_ += bucket.batches;
    rest = bucket.rest();
  }
  if (spec.last != LastBatch::kDrop) short_items_ = static_cast<std::uint32_t>(rest);
}

std::size_t BucketBatches::bucket_of_batch(std::uint64_t batch) const {
  const auto after = std::upper_bound(
      buckets_.begin(), buckets_.end(), batch,
      [](std::uint64_t wanted, const Bucket& bucket) { return wanted < bucket.first_batch; });
  // Of several buckets that begin there, only the last one has batches.
  return static_cast<std::size_t>(after - buckets_.begin()) - 1;
}

std::uint64_t BucketBatches::rows() const {
  std::uint64_t items = short_items_;
  for (const Bucket& bucket : buckets_) items += bucket.batches * bucket.batch_items;
  return items * uses_;
}

}  // namespace echoline::plan
