#include "plan/shuffle_order.h"

#include <algorithm>

#include "plan/plan_spec.h"

namespace echoline::plan {
namespace {

bool shuffles_windows(std::uint64_t window) { return window > 1 && window != kWindowAll; }

ShardOrder shard_order(const Shuffled& shuffled, std::uint64_t seed, std::uint32_t epoch) {
  if (shuffled.window == 0 || shuffled.window == kWindowAll) return ShardOrder(shuffled.shards);
  return ShardOrder(shuffled.shards,
                    order_key(seed, {.purpose = Purpose::kShards, .epoch = epoch}));
}

// A window as large as the lane is one permutation. With smaller windows, the first one has a
// random size, so that the window borders differ from epoch to epoch.
std::uint64_t first_window_size(std::uint64_t window, std::uint64_t lane_records,
                                const OrderKey& key) {
  return window >= lane_records ? lane_records : key.first % window + 1;
}

}  // namespace

Shuffled shuffled_of(const std::vector<std::uint64_t>& shard_records, std::uint32_t lanes,
                     std::uint64_t window) {
  const ShardTable shards(shard_records);
  return {.shards = shards, .lanes = EvenCut(shards.record_count(), lanes), .window = window};
}

ShuffleOrder::ShuffleOrder(const Shuffled& shuffled, std::uint64_t seed, std::uint32_t epoch)
    : lanes_(shuffled.lanes),
      window_(shuffled.window),
      seed_(seed),
      epoch_(epoch),
      shards_(shard_order(shuffled, seed, epoch)) {
  if (window_ == kWindowAll) {
    all_ = Permutation(shuffled.shards.record_count(),
                       order_key(seed, {.purpose = Purpose::kRecords, .epoch = epoch}));
  }
  if (!shuffles_windows(window_)) return;
  for (std::uint32_t lane = 0; lane < lanes_.parts(); ++lane) {
    first_size_.push_back(first_window_size(
        window_, lanes_.size(lane),
        order_key(seed, {.purpose = Purpose::kWindowStart, .epoch = epoch, .lane = lane})));
  }
}

ShuffleOrder::Window ShuffleOrder::window_of(std::uint32_t lane, std::uint64_t index) const {
  const std::uint64_t first = first_size_[lane];
  if (index < first) return {0, 0, first};
  const std::uint64_t past = (index - first) / window_;
  const std::uint64_t begin = first + past * window_;
  return {past + 1, begin, std::min(window_, lanes_.size(lane) - begin)};
}

std::uint64_t ShuffleOrder::shuffled(std::uint32_t lane, std::uint64_t index, const Window& window,
                                     Memory& memory) const {
  // 0 marks an empty slot, so slots store the window's number plus one.
  const std::size_t slot = window.number % Memory::kWindows;
  if (memory.number_plus_one[slot] != window.number + 1) {
    memory.number_plus_one[slot] = window.number + 1;
    memory.window[slot] = Permutation(window.size, order_key(seed_, {.purpose = Purpose::kWindow,
                                                                     .epoch = epoch_,
                                                                     .lane = lane,
                                                                     .block = window.number}));
  }
  return window.begin + memory.window[slot](index - window.begin);
}

ShuffleOrder::Found ShuffleOrder::find(std::uint32_t lane, std::uint64_t index,
                                       Memory& memory) const {
  if (window_ == kWindowAll) return {all_(lanes_.begin(lane) + index)};
  if (memory.lane != lane) {
    memory.lane = lane;
    memory.number_plus_one.fill(0);
  }
  const std::uint64_t begin = lanes_.begin(lane);
  if (!shuffles_windows(window_)) return {shards_.record(begin + index, memory.shard)};
  const Window window = window_of(lane, index);
  const std::uint64_t in_lane = shuffled(lane, index, window, memory);
  return {shards_.record(begin + in_lane, memory.shard), static_cast<std::uint32_t>(window.number)};
}

}  // namespace echoline::plan
