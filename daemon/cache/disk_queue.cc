#include "cache/disk_queue.h"

#include <utility>

namespace echoline::cache {

bool DiskQueue::push(const RecordKey& key, std::shared_ptr<const Buffer> bytes) {
  const std::uint64_t size = bytes->size();
  const MutexLock lock(mutex_);
  const std::uint64_t queued = bytes_.load(std::memory_order_relaxed);
  // An empty queue takes a value of any size, so that a large one is not refused every time.
  if (queued > 0 && queued + size > bytes_max_) return false;
  const auto [added, is_new] = values_.try_emplace(key.location, Value{key, std::move(bytes)});
  // Queued already, maybe in another version: that one is written first.
  if (!is_new) return true;
  order_.push_back(added->second);
  bytes_.store(queued + size, std::memory_order_relaxed);
  return true;
}

DiskQueue::Value DiskQueue::find(const Hash128& location) const {
  const MutexLock lock(mutex_);
  const auto found = values_.find(location);
  return found == values_.end() ? Value{} : found->second;
}

std::vector<DiskQueue::Value> DiskQueue::first(std::uint64_t bytes_max,
                                               std::size_t count_max) const {
  const MutexLock lock(mutex_);
  std::vector<Value> values;
  std::uint64_t bytes = 0;
  for (const Value& value : order_) {
    if (bytes >= bytes_max || values.size() >= count_max) break;
    bytes += value.bytes->size();
    // Copies of shared pointers; the values stay where they are.
    values.push_back(value);
  }
  return values;
}

void DiskQueue::remove_first(const std::vector<Value>& values) {
  const MutexLock lock(mutex_);
  std::uint64_t bytes = 0;
  for (const Value& value : values) {
    bytes += value.bytes->size();
    // `first` returned the front of `order_`, and only values behind it were added since.
    values_.erase(value.key.location);
    order_.pop_front();
  }
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
}

}  // namespace echoline::cache
