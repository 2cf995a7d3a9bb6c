// The writing side of the disk cache. Everything happens with the lock file of the path locked, in
// this order: the count of used bytes, the values, their log entries. So after a crash at any point
// the count is never too small, and no entry points to a value that was not written. A failure
// costs the values, never the training.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "cache/disk_cache.h"
#include "cache/disk_file.h"
#include "cache/disk_holes.h"

namespace echoline::cache {
namespace {

constexpr std::uint64_t kBatchBytes = 4 << 20;
constexpr std::size_t kBatchValues = 4096;
constexpr std::uint64_t kPauseNs = 10'000'000'000;

}  // namespace

void DiskCache::refresh() {
  // One commit of this daemon at a time; the lock file excludes the other daemons.
  const MutexLock commit_lock(commit_mutex_);
  if (!log_.grown()) return;
  // Without waiting: it is tried again soon, and old entries are only misses.
  const FileLock lock(space_.lock_fd(), 0);
  if (!lock.held()) return;
  // The table is read by lookups, so it changes under its own lock, too.
  const MutexLock table_lock(mutex_);
  log_.refresh();
}

void DiskCache::flush() {
  const MutexLock commit_lock(commit_mutex_);
  const Batch taken = queue_.first(kBatchBytes, kBatchValues);
  if (taken.empty()) return;
  // A copy: write() removes values from the batch, and `taken` says what leaves the queue.
  Batch batch = taken;
  {
    const FileLock lock(space_.lock_fd(), kDiskLockTimeoutNs);
    if (!lock.held() || !write(batch)) {
      failures_.error.fetch_add(1, std::memory_order_relaxed);
      pause_offers();
    }
  }
  // Values that could not be written leave the queue, too: training must not wait for a bad disk.
  queue_.remove_first(taken);
}

bool DiskCache::write(Batch& batch) {
  if (!catch_up(batch)) return false;
  std::vector<DiskEntry> entries = entries_for(batch);
  if (entries.empty()) return true;
  const std::uint64_t used_before = log_.used_bytes();
  // Raised before anything is written: after a crash the count is too large, never too small.
  std::uint64_t used = used_before;
  for (const DiskEntry& entry : entries) used += entry.bytes + kEntryBytes;
  errno = 0;
  bool written = log_.set_used_bytes(used);
  // Values before their entries. `entries` are the first ones of the batch, in its order.
  for (std::size_t i = 0; i < entries.size() && written; ++i) {
    written = write_at(data_.get(), entries[i].offset, batch[i].bytes->span());
  }
  if (written) {
    const MutexLock lock(mutex_);
    written = log_.append(entries);
  }
  if (!written) give_up(entries, used_before, errno);
  return written;
}

// Reads the log, and removes from the batch the values that other daemons have written since. Frees
// the disk space of values that the batch replaces, and of values found bad. Returns false if the
// log can't be read.
bool DiskCache::catch_up(Batch& batch) {
  std::vector<DiskValue> dead;
  {
    const MutexLock lock(mutex_);
    if (!log_.refresh()) return false;
    dead.swap(holes_);
    std::erase_if(batch, [&](const DiskQueue::Value& value) {
      const DiskValue* known = log_.find(value.key.location);
      if (known == nullptr) return false;
      if (known->version == value.key.version && known->bytes == value.bytes->size()) return true;
      // Another version: its space is freed, and the new entry replaces it.
      dead.push_back(*known);
      return false;
    });
  }
  punch_holes(data_.get(), std::move(dead), log_);
  return true;
}

// The log entries of the first values of the batch, as many as the cap has room for.
std::vector<DiskEntry> DiskCache::entries_for(const Batch& batch) {
  std::vector<DiskEntry> entries;
  std::uint64_t wanted = log_.used_bytes();
  for (const DiskQueue::Value& value : batch) wanted += value.bytes->size() + kEntryBytes;
  space_.make_room(wanted);
  std::uint64_t used = space_.used_by_others() + log_.used_bytes();
  std::uint64_t offset = log_.data_end();
  for (const DiskQueue::Value& value : batch) {
    const std::uint64_t size = value.bytes->size();
    used += size + kEntryBytes;
    // Stops at the first that does not fit, so that the entries are the first values of the batch.
    if (used > options_.cap_bytes) break;
    entries.push_back({.location = value.key.location,
                       .version = value.key.version,
                       .offset = offset,
                       .bytes = size,
                       .checksum = checksum(value.key, value.bytes->span())});
    offset += size;
  }
  if (entries.size() < batch.size()) {
    failures_.full.fetch_add(batch.size() - entries.size(), std::memory_order_relaxed);
    pause_offers();
  }
  return entries;
}

// Removes what was written of a failed batch: a full disk needs the space.
// The log has no entry of these values, so cutting the data file loses nothing.
void DiskCache::give_up(const std::vector<DiskEntry>& entries, std::uint64_t used_before,
                        int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  failures_.full.fetch_add(full ? entries.size() : 0, std::memory_order_relaxed);
  log_warning("cache", "{}: the disk cache keeps no new values for {} s: {}", space_.folder(),
              kPauseNs / 1'000'000'000, errno_status(error, "writing").message());
  // If the file cannot be cut, the count stays too large, which is safe.
  if (::ftruncate(data_.get(), static_cast<off_t>(entries.front().offset)) == 0) {
    log_.set_used_bytes(used_before);
  }
}

void DiskCache::pause_offers() {
  paused_until_ns_.store(monotonic_ns() + kPauseNs, std::memory_order_relaxed);
}

}  // namespace echoline::cache
