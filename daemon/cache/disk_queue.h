// The values of a disk cache that are not written yet.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/buffer.h"
#include "base/mutex.h"
#include "cache/record_key.h"

namespace echoline::cache {

// First in, first out, with a bound on the bytes. Any thread may call it; nothing blocks.
class DiskQueue {
 public:
  struct Value {
    RecordKey key;
    std::shared_ptr<const Buffer> bytes;
  };

  explicit DiskQueue(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // Queues the value, unless one with its location is queued. Returns false if the queue is full.
  bool push(const RecordKey& key, std::shared_ptr<const Buffer> bytes);
  // The queued value with this location, which may have another version; null bytes if there is
  // none.
  Value find(const Hash128& location) const;
  // The first values, about `bytes_max` bytes and at most `count_max` of them. They stay in the
  // queue until `remove_first`.
  std::vector<Value> first(std::uint64_t bytes_max, std::size_t count_max) const;
  // Removes the values that `first` returned. One thread at a time calls `first` and this.
  void remove_first(const std::vector<Value>& values);
  bool empty() const { return bytes_.load(std::memory_order_relaxed) == 0; }

 private:
  const std::uint64_t bytes_max_;
  mutable Mutex mutex_;
  std::deque<Value> order_ ECHOLINE_GUARDED_BY(mutex_);
  // The same values, by location.
  std::unordered_map<Hash128, Value, Hash128Hasher> values_ ECHOLINE_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace echoline::cache
