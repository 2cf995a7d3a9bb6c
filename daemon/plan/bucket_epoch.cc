#include "plan/bucket_epoch.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace echoline::plan {

BucketEpoch::BucketEpoch(std::shared_ptr<const StreamOrder> stream, std::uint32_t epoch)
    : stream_(std::move(stream)) {
  const PlanSpec& spec = stream_->spec;
  if (spec.shuffle_window == 0) return;
  const BucketBatches& batches = *stream_->batches;
  for (std::size_t bucket = 0; bucket < spec.buckets->count(); ++bucket) {
    items_.emplace_back(
        batches[bucket].items,
        order_key(spec.seed, {.purpose = Purpose::kBucket, .epoch = epoch, .block = bucket}));
  }
  batches_ = Permutation(batches.whole_batches(),
                         order_key(spec.seed, {.purpose = Purpose::kBatches, .epoch = epoch}));
}

std::uint64_t BucketEpoch::rows() const {
  return stream_->batches->count() * stream_->spec.batch_rows;
}

BucketEpoch::Batch BucketEpoch::batch_of(std::uint64_t step) const {
  const BucketBatches& batches = *stream_->batches;
  ECHOLINE_CHECK(step < batches.count());
  if (step == batches.whole_batches()) {
    const std::size_t last = stream_->spec.buckets->count() - 1;
    return {last, batches[last].batches * batches[last].batch_items, batches.short_items()};
  }
  const std::uint64_t batch = items_.empty() ? step : batches_(step);
  const std::size_t number = batches.bucket_of_batch(batch);
  const BucketBatches::Bucket& bucket = batches[number];
  return {number, (batch - bucket.first_batch) * bucket.batch_items, bucket.batch_items};
}

BatchForm BucketEpoch::form(std::uint64_t step) const {
  const BucketShape& shape = stream_->spec.buckets->shape(batch_of(step).bucket);
  return {.rows = shape.rows, .length = shape.up_to};
}

std::uint32_t BucketEpoch::valid_rows(std::uint64_t step) const {
  return batch_of(step).items * stream_->batches->uses();
}

std::uint64_t BucketEpoch::record(std::size_t bucket, std::uint64_t item) const {
  while (true) {
    const BucketBatches::Bucket& from = (*stream_->batches)[bucket];
    const std::uint64_t place = items_.empty() ? item : items_[bucket](item);
    if (place >= from.carried) return stream_->spec.buckets->record(bucket, place - from.carried);
    // One of the last items of the bucket before.
    --bucket;
    const BucketBatches::Bucket& before = (*stream_->batches)[bucket];
    item = before.batches * before.batch_items + place;
  }
}

RowUse BucketEpoch::at(std::uint64_t row) const {
  RowUse use;
  read(row, {&use, 1});
  return use;
}

void BucketEpoch::read(std::uint64_t row, std::span<RowUse> out) const {
  ECHOLINE_CHECK(row <= rows() && out.size() <= rows() - row);
  const std::uint64_t batch_rows = stream_->spec.batch_rows;
  while (!out.empty()) {
    const std::uint64_t first = row % batch_rows;
    const std::uint64_t count = std::min<std::uint64_t>(out.size(), batch_rows - first);
    read_batch(row / batch_rows, first, out.first(count));
    out = out.subspan(count);
    row += count;
  }
}

void BucketEpoch::read_batch(std::uint64_t step, std::uint64_t first, std::span<RowUse> out) const {
  const Batch batch = batch_of(step);
  const std::uint32_t uses = stream_->batches->uses();
  const std::uint64_t valid = std::uint64_t{batch.items} * uses;
  for (std::uint64_t row = first; RowUse & use : out) {
    use = {.valid = false};
    if (row < valid) {
      use = {.record = record(batch.bucket, batch.first + row % batch.items),
             .use = static_cast<std::uint32_t>(row / batch.items),
             .uses = uses};
    }
    ++row;
  }
}

}  // namespace echoline::plan
