// Decoded samples kept in the daemon's memory from epoch to epoch: the cache step after `decode`.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/buffer.h"
#include "base/status.h"
#include "cache/admission.h"
#include "cache/memory_cache.h"
#include "decode/sample.h"

namespace echoline::batch {

// Any thread may call any method. It never evicts: a sample that was found once is always found.
class SampleCache {
 public:
  // `data` has the estimated sizes of decoded samples. The cache never exceeds `capacity_bytes`: if
  // samples are larger than estimated, it keeps fewer.
  SampleCache(const cache::DataSetSize& data, std::uint64_t capacity_bytes)
      : admission_(data, {.memory = {.bytes = capacity_bytes}}), samples_(capacity_bytes) {}

  // The bytes that a kept sample needs.
  static std::uint64_t kept_bytes(const decode::Sample& sample);

  // Whether the sample is here, so that the record need not be fetched. Counts a hit if so; it
  // saves fetching `encoded_bytes` and decoding.
  bool serves(std::uint64_t record, std::uint64_t encoded_bytes);
  void count_miss() { misses_.fetch_add(1, std::memory_order_relaxed); }

  // Fills `sample` if the record is here, and returns the bytes that its tensors borrow; else null.
  // The cache keeps them.
  std::shared_ptr<const Buffer> find(std::uint64_t record, decode::Sample& sample) const;
  // Whether the record is chosen and not here yet, so that it should be offered.
  bool wants(std::uint64_t record) const;
  // Keeps a copy if the record is chosen and there is room. `decode_ns`: the time of decoding it.
  void offer(std::uint64_t record, const decode::Sample& sample, std::uint64_t decode_ns);
  // The measured time to fetch an encoded byte from the store; 0 while unknown.
  void set_store_cost(double ns_per_byte) { store_ns_per_byte_.store(ns_per_byte); }

  std::uint64_t bytes() const { return samples_.bytes(); }
  std::uint64_t hits() const { return hits_.load(std::memory_order_relaxed); }
  std::uint64_t hit_bytes() const { return hit_bytes_.load(std::memory_order_relaxed); }
  // The saved time of fetching and decoding, estimated from the measured rates.
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
