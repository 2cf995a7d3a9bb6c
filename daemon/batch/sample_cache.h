// Decoded samples kept in the daemon's memory from epoch to epoch, for a cache that stands after
// `decode`.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/status.h"
#include "cache/admission.h"
#include "cache/memory_cache.h"
#include "decode/sample.h"

namespace echoline::batch {

// Any thread may call any of it. What was found once is there for good: nothing is evicted.
class SampleCache {
 public:
  // `data` in decoded bytes, as far as they are known: those of the records, times their growth.
  SampleCache(const cache::DataSetSize& data, std::uint64_t capacity_bytes)
      : admission_(data, {.memory = capacity_bytes}), samples_(capacity_bytes) {}

  // Says whether the record needs no bytes, and counts it as a hit if so.
  bool serves(std::uint64_t record);
  void count_miss() { misses_.fetch_add(1, std::memory_order_relaxed); }

  // Fills `sample` and says true, if it is here.
  bool find(std::uint64_t record, decode::Sample& sample) const;
  void offer(std::uint64_t record, const decode::Sample& sample);

  std::uint64_t bytes() const { return samples_.bytes(); }
  std::uint64_t hits() const { return hits_.load(std::memory_order_relaxed); }
  std::uint64_t hit_bytes() const { return hit_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t misses() const { return misses_.load(std::memory_order_relaxed); }

 private:
  const cache::Admission admission_;
  cache::MemoryCache samples_;
  std::atomic<std::uint64_t> hits_{0};
  std::atomic<std::uint64_t> hit_bytes_{0};
  std::atomic<std::uint64_t> misses_{0};
};

}  // namespace echoline::batch
