#include "engine/pass/published_batches.h"

#include <algorithm>

namespace echoline::engine {

void PublishedBatches::add(const shm::Descriptor& descriptor, std::uint64_t sequence) {
  batches_.push_back({{descriptor.epoch, descriptor.row}, descriptor.valid_rows, sequence});
  if (batches_.size() > most_) batches_.pop_front();
}

std::optional<std::uint64_t> PublishedBatches::with_row(plan::Position position,
                                                        std::uint64_t released) const {
  const auto found = std::ranges::find_if(batches_, [&](const Batch& batch) {
    return batch.sequence >= released && batch.start.epoch == position.epoch &&
           batch.start.row <= position.row && position.row < batch.start.row + batch.rows;
  });
  return found == batches_.end() ? std::nullopt : std::optional(found->sequence);
}

std::optional<std::uint32_t> PublishedBatches::oldest_epoch(std::uint64_t released) const {
  const auto kept = std::ranges::find_if(
      batches_, [&](const Batch& batch) { return batch.sequence >= released; });
  return kept == batches_.end() ? std::nullopt : std::optional(kept->start.epoch);
}

}  // namespace echoline::engine
