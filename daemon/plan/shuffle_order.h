// The shuffle step of one epoch: maps (lane, index in the lane) to a record of the index.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "plan/lanes.h"
#include "plan/permutation.h"
#include "plan/shard_order.h"

namespace echoline::plan {

// What is shuffled: the shards of a stream or of one source of a mixture, and by which window.
struct Shuffled {
  ShardTable shards;
  EvenCut lanes;  // of all records
  std::uint64_t window;
};

Shuffled shuffled_of(const std::vector<std::uint64_t>& shard_records, std::uint32_t lanes,
                     std::uint64_t window);

// The shards are permuted, their records divided into lanes, and each lane shuffled window by
// window, each window with its own key. Immutable; any thread may call it. What is shuffled
// must outlive it.
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

  ShuffleOrder(const Shuffled& shuffled, std::uint64_t seed, std::uint32_t epoch);

  // A record, and the number of the window that it is in, modulo 2^32; 0 without windows.
  struct Found {
    std::uint64_t record = 0;
    std::uint32_t window = 0;
  };
  Found find(std::uint32_t lane, std::uint64_t index, Memory& memory) const;

 private:
  struct Window {
    std::uint64_t number;
    std::uint64_t begin;
    std::uint64_t size;
  };
  Window window_of(std::uint32_t lane, std::uint64_t index) const;
  std::uint64_t shuffled(std::uint32_t lane, std::uint64_t index, const Window& window,
                         Memory& memory) const;

  EvenCut lanes_;
  std::uint64_t window_;
  std::uint64_t seed_;
  std::uint32_t epoch_;
  ShardOrder shards_;
  Permutation all_;                        // only with window: all
  std::vector<std::uint64_t> first_size_;  // of each lane's first window; only with a finite window
};

}  // namespace echoline::plan
