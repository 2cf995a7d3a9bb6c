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
  // `data` in bytes as they are kept, as far as they are known. `capacity_bytes` is never passed:
  // samples that are larger than was thought are no longer kept when it is reached.
  SampleCache(const cache::DataSetSize& data, std::uint64_t capacity_bytes)
      : admission_(data, {.memory = capacity_bytes}), samples_(capacity_bytes) {}

  // What keeping the sample takes.
  static std::uint64_t kept_bytes(const decode::Sample& sample);

  // Says whether the record needs no bytes, and counts it as a hit if so, which saves fetching its
  // `encoded_bytes` and decoding.
  bool serves(std::uint64_t record, std::uint64_t encoded_bytes);
  void count_miss() { misses_.fetch_add(1, std::memory_order_relaxed); }

  // Fills `sample` and says true, if it is here.
  bool find(std::uint64_t record, decode::Sample& sample) const;
  // `decode_ns`: what a worker has spent on it.
  void offer(std::uint64_t record, const decode::Sample& sample, std::uint64_t decode_ns);
  // What an encoded byte from the store costs in time, as measured so far; 0 while unknown.
  void set_store_cost(double ns_per_byte) { store_ns_per_byte_.store(ns_per_byte); }

  std::uint64_t bytes() const { return samples_.bytes(); }
  std::uint64_t hits() const { return hits_.load(std::memory_order_relaxed); }
  std::uint64_t hit_bytes() const { return hit_bytes_.load(std::memory_order_relaxed); }
  // Of the store and of workers, by the rates both have shown.
  std::uint64_t saved_ns() const { return saved_ns_.load(std::memory_order_relaxed); }
  std::uint64_t misses() const { return misses_.load(std::memory_order_relaxed); }

 private:
  const cache::Admission admission_;
  cache::MemoryCache samples_;
  std::atomic<std::uint64_t> hits_{0};
  std::atomic<std::uint64_t> hit_bytes_{0};
  std::atomic<std::uint64_t> misses_{0};
  std::atomic<std::uint64_t> saved_ns_{0};
  std::atomic<std::uint64_t> decoded_bytes_{0};
  std::atomic<std::uint64_t> decode_ns_{0};  // for decoded_bytes_
  std::atomic<double> store_ns_per_byte_{0};
};

}  // namespace echoline::batch
