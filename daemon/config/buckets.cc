#include "config/buckets.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "config/pipeline.h"

namespace echoline::config {

std::uint32_t bucket_rows(const v1::Batch& batch, std::uint64_t up_to) {
  const v1::Buckets& buckets = batch.buckets();
  if (!buckets.has_budget()) return batch.size();
  const std::uint64_t rows = std::min<std::uint64_t>(buckets.budget() / up_to, batch.size());
  return static_cast<std::uint32_t>(rows / buckets.multiple() * buckets.multiple());
}

Status check_buckets(const v1::Stream& stream, const SourceLocations& locations) {
  const v1::Batch& batch = batch_step(stream);
  if (!batch.has_buckets()) return Status();
  const v1::Buckets& buckets = batch.buckets();
  std::uint64_t before = 0;
  for (const std::uint64_t up_to : buckets.up_to()) {
    if (up_to <= before) {
      return locations.error(
          buckets, "up_to",
          fmt::format("{} after {}: each length must be larger than the one before", up_to,
                      before));
    }
    before = up_to;
    if (bucket_rows(batch, up_to) > 0) continue;
    return locations.error(
        buckets, "budget",
        fmt::format("with {} and 'size: {}', a batch of the bucket up to {} has {} rows, less than "
                    "'multiple: {}'; raise the budget or the size, or set a smaller 'multiple'",
                    buckets.budget(), batch.size(), up_to,
                    std::min<std::uint64_t>(buckets.budget() / up_to, batch.size()),
                    buckets.multiple()));
  }
  if (stream.has_echo()) {
    return locations.error(
        stream, "echo",
        "with 'buckets' in the batch step the daemon cannot choose a place; write "
        "'echo' as a step: with 'spread: step', or after 'batch'");
  }
  const v1::Shuffle* shuffle = shuffle_step(stream);
  if (shuffle == nullptr) return Status();
  if (shuffle->has_order()) {
    return locations.error(
        *shuffle, "order",
        "the batch step has 'buckets', which choose the records of a batch; leave "
        "one of them out");
  }
  if (shuffle->window() == std::numeric_limits<std::uint64_t>::max()) return Status();
  return locations.error(
      *shuffle, "window",
      "with 'buckets' in the batch step it must be 'all'; or leave the step out");
}

}  // namespace echoline::config
