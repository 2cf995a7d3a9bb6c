#include "plan/shuffle_order.h"

namespace echoline::plan {
namespace {

bool shuffles_windows(const PlanSpec& spec) {
  return spec.shuffle_window > 1 && spec.shuffle_window != kWindowAll;
}

ShardOrder shard_order(const PlanSpec& spec, const ShardTable& shards, std::uint32_t epoch) {
  if (spec.shuffle_window == 0 || spec.shuffle_window == kWindowAll) return ShardOrder(shards);
  return ShardOrder(shards, order_key(spec.seed, {.purpose = Purpose::kShards, .epoch = epoch}));
}

// A window as large as the lane is one permutation. With smaller windows, the first one has a
// random size, so that the window borders differ from epoch to epoch.
std::uint64_t first_window_size(const PlanSpec& spec, std::uint64_t lane_records,
                                std::uint32_t lane, std::uint32_t epoch) {
  if (spec.shuffle_window >= lane_records) return lane_records;
  const OrderKey key =
      order_key(spec.seed, {.purpose = Purpose::kWindowStart, .epoch = epoch, .lane = lane});
  return key.first % spec.shuffle_window + 1;
}

}  // namespace

ShuffleOrder::ShuffleOrder(const StreamOrder& stream, std::uint32_t epoch)
    : spec_(stream.spec),
      list_rows_(stream.list_rows),
      lanes_(stream.lanes),
      epoch_(epoch),
      shards_(shard_order(spec_, stream.shards, epoch)) {
  if (spec_.shuffle_window == kWindowAll) {
    all_ = Permutation(stream.shards.record_count(),
                       order_key(spec_.seed, {.purpose = Purpose::kRecords, .epoch = epoch}));
  }
  if (!shuffles_windows(spec_)) return;
  for (std::uint32_t lane = 0; lane < spec_.lanes; ++lane) {
    first_size_.push_back(first_window_size(spec_, lanes_.size(lane), lane, epoch));
  }
}

ShuffleOrder::Window ShuffleOrder::window_of(std::uint32_t lane, std::uint64_t index) const {
  const std::uint64_t first = first_size_[lane];
  if (index < first) return {0, 0, first};
  const std::uint64_t past = (index - first) / spec_.shuffle_window;
  const std::uint64_t begin = first + past * spec_.shuffle_window;
  return {past + 1, begin, std::min(spec_.shuffle_window, lanes_.size(lane) - begin)};
}

std::uint64_t ShuffleOrder::shuffled(std::uint32_t lane, std::uint64_t index,
                                     Memory& memory) const {
  const Window window = window_of(lane, index);
  // 0 marks an empty slot, so slots store the window's number plus one.
  const std::size_t slot = window.number % Memory::kWindows;
  if (memory.number_plus_one[slot] != window.number + 1) {
    memory.number_plus_one[slot] = window.number + 1;
    memory.window[slot] = Permutation(
        window.size,
        order_key(
            spec_.seed,
            {.purpose = Purpose::kWindow, .epoch = epoch_, .lane = lane, .block = window.number}));
  }
  return window.begin + memory.window[slot](index - window.begin);
}

std::uint64_t ShuffleOrder::record(std::uint32_t lane, std::uint64_t index, Memory& memory) const {
  if (spec_.shuffle_window == kWindowAll) return all_(lanes_.begin(lane) + index);
  if (memory.lane != lane) {
    memory.lane = lane;
    memory.number_plus_one.fill(0);
  }
  const std::uint64_t in_lane = shuffles_windows(spec_) ? shuffled(lane, index, memory) : index;
  return shards_.record(lanes_.begin(lane) + in_lane, memory.shard);
}

}  // namespace echoline::plan
