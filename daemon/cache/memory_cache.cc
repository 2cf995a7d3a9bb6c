#include "cache/memory_cache.h"

#include <algorithm>
#include <utility>

namespace echoline::cache {

std::shared_ptr<const Buffer> MemoryCache::find(std::uint64_t record) const {
  const MutexLock lock(mutex_);
  const auto found = values_.find(record);
  return found == values_.end() ? nullptr : found->second;
}

void MemoryCache::offer(std::uint64_t record, std::span<const std::byte> bytes) {
  // Checked without the lock first, to avoid copies of values that will not fit. The second `offer`
  // decides.
  if (this->bytes() + bytes.size() > capacity_bytes_ || holds(record)) return;
  auto copy = std::make_shared<Buffer>(bytes.size());
  std::copy_n(bytes.data(), bytes.size(), copy->data());
  offer(record, std::move(copy));
}

void MemoryCache::offer(std::uint64_t record, std::shared_ptr<const Buffer> value) {
  const MutexLock lock(mutex_);
  const std::uint64_t kept = bytes_.load(std::memory_order_relaxed);
  const std::uint64_t size = value->size();
  // Full: nothing is evicted. A kept value is worth as much as the new one, because each record
  // comes once in an epoch.
  if (kept + size > capacity_bytes_) return;
  // A second thread may have brought the same record.
  if (values_.emplace(record, std::move(value)).second) {
    bytes_.store(kept + size, std::memory_order_relaxed);
  }
}

}  // namespace echoline::cache
