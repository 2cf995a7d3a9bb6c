#include "cache/memory_cache.h"

#include <algorithm>
#include <cmath>

#include "base/philox.h"

namespace echoline::cache {
namespace {

std::uint64_t admission_threshold(std::uint64_t capacity_bytes, std::uint64_t total_bytes) {
  if (capacity_bytes >= total_bytes) return ~std::uint64_t{0};
  return static_cast<std::uint64_t>(
      std::ldexp(static_cast<double>(capacity_bytes) / static_cast<double>(total_bytes), 64));
}

}  // namespace

MemoryCache::MemoryCache(std::uint64_t capacity_bytes, std::uint64_t total_bytes)
    : capacity_bytes_(capacity_bytes),
      admit_below_(admission_threshold(capacity_bytes, total_bytes)) {}

bool MemoryCache::admits(std::uint64_t record) const {
  // A key of its own: the share must not follow the stream's order, whatever its seed.
  const PhiloxCounter hash = philox4x32(
      philox_key(0x63616368652d6d65),
      {static_cast<std::uint32_t>(record), static_cast<std::uint32_t>(record >> 32), 0, 0});
  return (static_cast<std::uint64_t>(hash[1]) << 32 | hash[0]) <= admit_below_;
}

std::shared_ptr<const Buffer> MemoryCache::find(std::uint64_t record) {
  std::lock_guard lock(mutex_);
  const auto found = records_.find(record);
  if (found == records_.end()) {
    misses_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  hits_.fetch_add(1, std::memory_order_relaxed);
  return found->second;
}

void MemoryCache::offer(std::uint64_t record, std::span<const std::byte> bytes) {
  if (!admits(record)) return;
  std::lock_guard lock(mutex_);
  const std::uint64_t kept = bytes_.load(std::memory_order_relaxed);
  if (kept + bytes.size() > capacity_bytes_ || records_.contains(record)) return;
  auto copy = std::make_shared<Buffer>(bytes.size());
  std::copy_n(bytes.data(), bytes.size(), copy->data());
  records_.emplace(record, std::move(copy));
  bytes_.store(kept + bytes.size(), std::memory_order_relaxed);
}

}  // namespace echoline::cache
