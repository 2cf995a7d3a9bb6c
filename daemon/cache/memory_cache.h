// Encoded records kept in the daemon's memory from epoch to epoch. It never evicts: which records
// are kept is decided by a hash of the record, so that hits are spread evenly over the epoch (MinIO
// cache of CoorDL, Mohan et al., PVLDB 2021).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>

#include "base/buffer.h"

namespace echoline::cache {

// Any thread may call any of it.
class MemoryCache {
 public:
  // Keeps capacity / total of a data set of `total_bytes`, chosen by hash.
  MemoryCache(std::uint64_t capacity_bytes, std::uint64_t total_bytes);

  // The record's bytes, or null: they stay valid while the pointer lives.
  std::shared_ptr<const Buffer> find(std::uint64_t record);
  // Copies the bytes in if this record is one of those to keep and there is room.
  void offer(std::uint64_t record, std::span<const std::byte> bytes);

  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  std::uint64_t hits() const { return hits_.load(std::memory_order_relaxed); }
  std::uint64_t misses() const { return misses_.load(std::memory_order_relaxed); }

 private:
  bool admits(std::uint64_t record) const;

  const std::uint64_t capacity_bytes_;
  const std::uint64_t admit_below_;  // share of 2^64
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::shared_ptr<const Buffer>> records_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> hits_{0};
  std::atomic<std::uint64_t> misses_{0};
};

}  // namespace echoline::cache
