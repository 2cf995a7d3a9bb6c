// The reading side and the queue; what changes the files stands in disk_commit.cc and
// disk_recover.cc.
#include "cache/disk_cache.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/clock.h"
#include "cache/disk_file.h"

namespace echoline::cache {

DiskCache::DiskCache(Options options, DiskSpace space, DiskLog log, UniqueFd data)
    : options_(std::move(options)),
      space_(std::move(space)),
      data_(std::move(data)),
      log_(std::move(log)) {}

Result<std::unique_ptr<DiskCache>> DiskCache::open(Options options) {
  ECHOLINE_ASSIGN(DiskSpace space, DiskSpace::open(options.path, options.set, options.cap_bytes));
  const std::filesystem::path folder = space.folder();
  ECHOLINE_ASSIGN(DiskLog log, DiskLog::open(folder / "log"));
  ECHOLINE_ASSIGN(UniqueFd data, open_file(folder / "data"));
  std::unique_ptr<DiskCache> cache(
      new DiskCache(std::move(options), std::move(space), std::move(log), std::move(data)));
  cache->recover();
  return cache;
}

bool DiskCache::holds(const RecordKey& key, std::uint64_t bytes) const {
  std::lock_guard lock(mutex_);
  if (const auto found = pending_.find(key.place); found != pending_.end()) {
    return found->second.key == key;
  }
  const DiskValue* value = log_.find(key.place);
  return value != nullptr && value->version == key.version && value->bytes == bytes;
}

DiskCache::Read DiskCache::read(const RecordKey& key, std::span<std::byte> destination) {
  DiskValue value;
  {
    std::lock_guard lock(mutex_);
    if (const auto found = pending_.find(key.place); found != pending_.end()) {
      const Pending& pending = found->second;
      if (pending.key != key || pending.value->size() != destination.size()) return Read::kMiss;
      std::copy_n(pending.value->data(), pending.value->size(), destination.data());
      return Read::kHit;
    }
    const DiskValue* known = log_.find(key.place);
    if (known == nullptr || known->version != key.version || known->bytes != destination.size()) {
      return Read::kMiss;
    }
    value = *known;
  }
  if (!read_at(data_.get(), value.offset, destination)) {
    failures_.error.fetch_add(errno != 0 ? 1 : 0, std::memory_order_relaxed);
    failures_.corrupt.fetch_add(errno == 0 ? 1 : 0, std::memory_order_relaxed);
    forget(key, value.checksum);
    return Read::kMiss;
  }
  if (checksum(key, destination) != value.checksum) {
    failures_.corrupt.fetch_add(1, std::memory_order_relaxed);
    forget(key, value.checksum);
    return Read::kMiss;
  }
  return Read::kHit;
}

void DiskCache::forget(const RecordKey& key, std::uint64_t checksum) {
  std::lock_guard lock(mutex_);
  if (const auto value = log_.erase(key.place, checksum)) holes_.push_back(*value);
}

bool DiskCache::offer(const RecordKey& key, std::shared_ptr<const Buffer> value) {
  if (monotonic_ns() < resting_until_ns_.load(std::memory_order_relaxed)) {
    failures_.full.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  const std::uint64_t size = value->size();
  if (holds(key, size)) return true;
  std::lock_guard lock(mutex_);
  const std::uint64_t pending = pending_bytes_.load(std::memory_order_relaxed);
  // One value always has a place, however large it is.
  if (pending > 0 && pending + size > options_.pending_bytes_max) {
    failures_.dropped.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  const auto [place, added] = pending_.try_emplace(key.place, Pending{key, std::move(value)});
  if (!added) return true;
  queue_.push_back(place->second);
  pending_bytes_.store(pending + size, std::memory_order_relaxed);
  return true;
}

std::uint64_t DiskCache::bytes() const {
  std::lock_guard lock(mutex_);
  return log_.live_bytes();
}

std::size_t DiskCache::count() const {
  std::lock_guard lock(mutex_);
  return log_.count();
}

}  // namespace echoline::cache
