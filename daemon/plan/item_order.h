// Which record is item `index` of a lane in one epoch: by the shuffle, by the user's list, or by
// the mixture.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "plan/mix_order.h"
#include "plan/order_lists.h"
#include "plan/shuffle_order.h"
#include "plan/stream_order.h"

namespace echoline::plan {

// Immutable; any thread may call it. The stream's order must outlive it.
class ItemOrder {
 public:
  // A cache for one walk through a lane.
  struct Memory {
    ShuffleOrder::Memory shuffle;
    MixOrder::Memory mix;
  };

  // `weights`: the changes of a mixture's weights in this epoch.
  ItemOrder(const StreamOrder& stream, std::uint32_t epoch, std::span<const WeightChange> weights)
      : stream_(stream), epoch_(epoch) {
    if (stream.mixture) {
      mix_.emplace(*stream.mixture, stream.spec, epoch, weights);
    } else if (!stream.spec.order) {
      shuffle_.emplace(stream.shuffled, stream.spec.seed, epoch);
    }
  }

  ListEntry entry(std::uint32_t lane, std::uint64_t index, Memory& memory) const {
    if (shuffle_) {
      const auto [record, window] = shuffle_->find(lane, index, memory.shuffle);
      return {.record = record, .window = window};
    }
    const std::uint64_t row = stream_.list_rows->row_of({lane, index});
    return mix_ ? mix_->entry(row, memory.mix) : stream_.spec.order->at(epoch_, row);
  }

 private:
  const StreamOrder& stream_;
  std::uint32_t epoch_;
  std::optional<ShuffleOrder> shuffle_;  // null with a list or a mixture
  std::optional<MixOrder> mix_;
};

}  // namespace echoline::plan
