// The shuffle step of one epoch: maps (lane, index in the lane) to a record of the index, or to an
// entry of the epoch's list.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "plan/lanes.h"
#include "plan/order_lists.h"
#include "plan/permutation.h"
#include "plan/plan_spec.h"
#include "plan/shard_order.h"
#include "plan/stream_order.h"

namespace echoline::plan {

// The shards are permuted, their records divided into lanes, and each lane shuffled window by
// window, each window with its own key. With lists, no part of this happens. Immutable; any thread
// may call it. The stream's order must outlive it.
class ShuffleOrder {
 public:
  // A cache for one walk through a lane: the permutations of the windows that it used last. Walks
  // of an echo order use several windows at a time, one per pass.
  struct Memory {
    static constexpr std::size_t kWindows = 16;
    std::array<Permutation, kWindows> window;
    std::array<std::uint64_t, kWindows> number_plus_one{};
    ShardOrder::Run shard;
    std::uint32_t lane = ~std::uint32_t{0};
  };

  ShuffleOrder(const StreamOrder& stream, std::uint32_t epoch);

  ListEntry entry(std::uint32_t lane, std::uint64_t index, Memory& memory) const {
    return spec_.order == nullptr ? ListEntry{.record = record(lane, index, memory)}
                                  : spec_.order->at(epoch_, list_rows_->row_of({lane, index}));
  }

 private:
  struct Window {
    std::uint64_t number;
    std::uint64_t begin;
    std::uint64_t size;
  };
  std::uint64_t record(std::uint32_t lane, std::uint64_t index, Memory& memory) const;
  Window window_of(std::uint32_t lane, std::uint64_t index) const;
  std::uint64_t shuffled(std::uint32_t lane, std::uint64_t index, Memory& memory) const;

  const PlanSpec& spec_;
  const std::optional<LaneGrid>& list_rows_;
  EvenCut lanes_;
  std::uint32_t epoch_;
  ShardOrder shards_;
  Permutation all_;                        // only with window: all
  std::vector<std::uint64_t> first_size_;  // of each lane's first window; only with a finite window
};

}  // namespace echoline::plan
