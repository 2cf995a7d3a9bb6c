// The random draws of one use of one sample in one step of the pipeline. The key is the seed; the
// counter consists of sample, use, epoch, step, crop and draw. Thread, worker, rank and host have
// no influence, so a use has the same draws wherever and whenever it is prepared.
#pragma once

#include <cstdint>

#include "echoline/shm/philox.h"

namespace echoline {

// Which use of which sample is being prepared.
struct UseKey {
  std::uint64_t seed = 0;
  std::uint64_t sample = 0;  // sample id, below 2^48
  std::uint32_t epoch = 0;
  std::uint16_t use = 0;
  std::uint16_t first_use = 0;  // of its item; draws that all uses share are those of this one
  std::uint8_t crop = 0;        // number among several crops of one picture; each has its own draws
};

class SampleRandom {
 public:
  // `step`: number of the drawing step: its index in the stream's pipeline without the steps read,
  // cache, echo, batch and publish; below 256.
  SampleRandom(const UseKey& key, std::uint8_t step)
      : key_(philox_key(key.seed)),
        counter_{static_cast<std::uint32_t>(key.sample),
                 static_cast<std::uint32_t>(key.sample >> 32) << 16 | key.use, key.epoch,
                 static_cast<std::uint32_t>(step) << 24 | std::uint32_t{key.crop} << 16} {}

  std::uint32_t next_u32() {
    if (left_ == 0) {
      block_ = philox4x32(key_, counter_);
      ++counter_[3];
      left_ = 4;
    }
    return block_[4 - left_--];
  }

  // Uniform in [0, 1) with 24 bits.
  float uniform() { return static_cast<float>(next_u32() >> 8) * 0x1p-24F; }

  // Uniform in [0, 1) with 53 bits.
  double uniform_double() {
    const std::uint64_t high = next_u32();
    const std::uint64_t low = next_u32();
    return static_cast<double>((high << 32 | low) >> 11) * 0x1p-53;
  }

  // Uniform integer in [0, bound), bound > 0; multiply-shift, bias below 2^-32.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(next_u32()) * bound >> 32);
  }

 private:
  PhiloxKey key_;
  PhiloxCounter counter_;
  PhiloxCounter block_{};
  int left_ = 0;
};

}  // namespace echoline
