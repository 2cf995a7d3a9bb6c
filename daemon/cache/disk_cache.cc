// The reading side. disk_commit.cc has the writing side, disk_recover.cc the start.
#include "cache/disk_cache.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/clock.h"
#include "cache/disk_file.h"
#include "cache/disk_recover.h"

namespace echoline::cache {

DiskCache::DiskCache(Options options, DiskSpace space, DiskLog log, UniqueFd data)
    : options_(std::move(options)),
      space_(std::move(space)),
      data_(std::move(data)),
      queue_(options_.pending_bytes_max),
      log_(std::move(log)) {}

Result<std::unique_ptr<DiskCache>> DiskCache::open(Options options) {
  ECHOLINE_ASSIGN(DiskSpace space, DiskSpace::open(options.path, options.set, options.cap_bytes));
  const std::filesystem::path folder = space.folder();
  ECHOLINE_ASSIGN(DiskLog log, DiskLog::open(folder / "log"));
  ECHOLINE_ASSIGN(UniqueFd data, open_file(folder / "data"));
  recover_disk(options, space, log, data.get());
  return std::unique_ptr<DiskCache>(
      new DiskCache(std::move(options), std::move(space), std::move(log), std::move(data)));
}

// A flushed value enters the log before it leaves the queue. So a look into the queue, then into
// the log, can't miss it.
bool DiskCache::holds(const RecordKey& key, std::uint64_t bytes) const {
  const DiskQueue::Value queued = queue_.find(key.location);
  if (queued.bytes != nullptr) return queued.key == key;
  const MutexLock lock(mutex_);
  const DiskValue* value = log_.find(key.location);
  return value != nullptr && value->version == key.version && value->bytes == bytes;
}

DiskCache::Read DiskCache::read(const RecordKey& key, std::span<std::byte> destination) {
  const DiskQueue::Value queued = queue_.find(key.location);
  if (queued.bytes != nullptr) {
    if (queued.key != key || queued.bytes->size() != destination.size()) return Read::kMiss;
    std::copy_n(queued.bytes->data(), queued.bytes->size(), destination.data());
    return Read::kHit;
  }
  DiskValue value;
  {
    const MutexLock lock(mutex_);
    const DiskValue* known = log_.find(key.location);
    if (known == nullptr || known->version != key.version || known->bytes != destination.size()) {
      return Read::kMiss;
    }
    value = *known;
  }
  // Read without the lock: the disk may be slow. If the space was freed and reused meanwhile, the
  // checksum is wrong.
  if (!read_at(data_.get(), value.offset, destination)) {
    // errno 0: the file ends before the value does, so another daemon or a crash has cut it.
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
  const MutexLock lock(mutex_);
  // The space is freed by the next flush, because only a holder of the lock file may change files.
  if (const auto value = log_.erase(key.location, checksum)) holes_.push_back(*value);
}

bool DiskCache::offer(const RecordKey& key, std::shared_ptr<const Buffer> value) {
  if (monotonic_ns() < paused_until_ns_.load(std::memory_order_relaxed)) {
    failures_.full.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (holds(key, value->size())) return true;
  if (queue_.push(key, std::move(value))) return true;
  failures_.dropped.fetch_add(1, std::memory_order_relaxed);
  return false;
}

std::uint64_t DiskCache::bytes() const {
  const MutexLock lock(mutex_);
  return log_.live_bytes();
}

std::size_t DiskCache::count() const {
  const MutexLock lock(mutex_);
  return log_.count();
}

}  // namespace echoline::cache
