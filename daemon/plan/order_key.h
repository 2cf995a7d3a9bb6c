// The keys of the plan's permutations. A key is Philox4x32 (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", 2011) of the stream's seed over the permutation's use. The top byte
// of the counter's last word is the purpose. Random draws of pipeline steps use the same byte with
// values from 0 up, purposes with values from 255 down, so that both never get the same counter.
#pragma once

#include <cstdint>

#include "echoline/shm/philox.h"

namespace echoline::plan {

enum class Purpose : std::uint8_t {
  kShards = 255,       // order of the shards
  kRecords = 254,      // a full permutation of the records
  kWindowStart = 253,  // the end of a lane's first shuffle window
  kWindow = 252,       // order within a shuffle window
  kEcho = 251,         // order of one pass over a block of the echo step
  kEchoPlain = 250,    // the same, for items without an extra use in the last block
  kBucket = 249,       // the items of a bucket; its number is the block
  kBatches = 248,      // the whole batches of all buckets
  kMix = 247,          // seed of one repetition of a source of a mixture
};

struct OrderKey {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

// Identifies a permutation of a stream.
struct OrderUse {
  Purpose purpose = Purpose::kShards;
  std::uint32_t epoch = 0;
  std::uint32_t lane = 0;   // below 2^24
  std::uint64_t block = 0;  // below 2^48
  std::uint32_t pass = 0;   // below 2^16
};

constexpr OrderKey order_key(std::uint64_t seed, const OrderUse& use) {
  const PhiloxCounter word = philox4x32(
      philox_key(seed), {static_cast<std::uint32_t>(use.block),
                         static_cast<std::uint32_t>(use.block >> 32) << 16 | use.pass, use.epoch,
                         static_cast<std::uint32_t>(use.purpose) << 24 | use.lane});
  return {static_cast<std::uint64_t>(word[1]) << 32 | word[0],
          static_cast<std::uint64_t>(word[3]) << 32 | word[2]};
}

}  // namespace echoline::plan
