// Values kept in the daemon's memory from epoch to epoch: encoded records or decoded samples.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

#include "base/buffer.h"
#include "base/mutex.h"

namespace echoline::cache {

// Never evicts: it keeps every offered value that fits. Admission decides which values to offer.
// Any thread may call any method.
class MemoryCache {
 public:
  // The memory that a value needs in addition to its bytes, for the memory budget.
  static constexpr std::uint64_t kOverheadBytes = 144;

  explicit MemoryCache(std::uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  // The record's value, or null.
  std::shared_ptr<const Buffer> find(std::uint64_t record) const;
  bool holds(std::uint64_t record) const { return find(record) != nullptr; }
  // Keeps a copy of the bytes, or the value itself, if there is room.
  void offer(std::uint64_t record, std::span<const std::byte> bytes);
  void offer(std::uint64_t record, std::shared_ptr<const Buffer> value);

  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  const std::uint64_t capacity_bytes_;
  mutable Mutex mutex_;
  std::unordered_map<std::uint64_t, std::shared_ptr<const Buffer>> values_
      ECHOLINE_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace echoline::cache
