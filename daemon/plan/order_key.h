// Keys of the plan's permutations: Philox of the stream's seed over what the permutation is for.
// The top byte of the last word is a purpose; pipeline steps count up from 0 there, purposes down
// from 255.
#pragma once

#include <cstdint>

#include "echoline/shm/philox.h"

namespace echoline::plan {

enum class Purpose : std::uint8_t {
  kShards = 255,       // order of the shards
  kRecords = 254,      // a full permutation of the records
  kWindowStart = 253,  // where the first shuffle window of a lane ends
  kWindow = 252,       // order within a shuffle window
  kEcho = 251,         // order of one pass over a block of the echo step
  kEchoPlain = 250,    // the same, for the records without an extra use of an epoch's last block
};

struct OrderKey {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

// What a permutation is for, but the seed.
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
