// How values get onto the disk: under the lock of the path, the value before its entry, the count
// of bytes before both. Whatever fails costs the values, never the training.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "cache/disk_cache.h"
#include "cache/disk_file.h"

namespace echoline::cache {
namespace {

constexpr std::uint64_t kBatchBytes = 4 << 20;
constexpr std::size_t kBatchValues = 4096;
constexpr std::uint64_t kRestNs = 10'000'000'000;

}  // namespace

void DiskCache::refresh() {
  std::lock_guard commit_lock(commit_mutex_);
  if (!log_.grown()) return;
  const FileLock lock(space_.lock_fd(), 0);
  if (!lock.held()) return;
  std::lock_guard table_lock(mutex_);
  log_.refresh();
}

void DiskCache::flush() {
  std::lock_guard commit_lock(commit_mutex_);
  std::vector<Pending> batch = next_batch();
  if (batch.empty()) return;
  const std::vector<Pending> taken = batch;
  {
    const FileLock lock(space_.lock_fd(), kLockTimeoutNs);
    if (!lock.held() || !write(batch)) {
      failures_.error.fetch_add(1, std::memory_order_relaxed);
      rest(kRestNs);
    }
  }
  settle(taken);
}

std::vector<DiskCache::Pending> DiskCache::next_batch() const {
  std::lock_guard lock(mutex_);
  std::vector<Pending> batch;
  std::uint64_t bytes = 0;
  for (const Pending& pending : queue_) {
    if (bytes >= kBatchBytes || batch.size() >= kBatchValues) break;
    bytes += pending.value->size();
    batch.push_back(pending);
  }
  return batch;
}

// Takes out of the batch what others have written since. The places of what the rest replaces, and
// of values found bad, are given back. False: the log cannot be read.
bool DiskCache::catch_up(std::vector<Pending>& batch) {
  std::vector<DiskValue> dead;
  {
    std::lock_guard lock(mutex_);
    if (!log_.refresh()) return false;
    dead.swap(holes_);
    std::erase_if(batch, [&](const Pending& pending) {
      const DiskValue* known = log_.find(pending.key.place);
      if (known == nullptr) return false;
      if (known->version == pending.key.version && known->bytes == pending.value->size()) {
        return true;
      }
      dead.push_back(*known);
      return false;
    });
  }
  punch(std::move(dead));
  return true;
}

// The entries of as many values as the cap has room for.
std::vector<DiskEntry> DiskCache::entries_for(const std::vector<Pending>& batch) {
  std::vector<DiskEntry> entries;
  std::uint64_t wanted = log_.used_bytes();
  for (const Pending& pending : batch) wanted += pending.value->size() + kEntryBytes;
  space_.make_room(wanted);
  std::uint64_t used = space_.used_by_others() + log_.used_bytes();
  std::uint64_t offset = log_.data_end();
  for (const Pending& pending : batch) {
    const std::uint64_t size = pending.value->size();
    used += size + kEntryBytes;
    if (used > options_.cap_bytes) break;
    entries.push_back({.place = pending.key.place,
                       .version = pending.key.version,
                       .offset = offset,
                       .bytes = size,
                       .checksum = checksum(pending.key, pending.value->span())});
    offset += size;
  }
  if (entries.size() < batch.size()) {
    failures_.full.fetch_add(batch.size() - entries.size(), std::memory_order_relaxed);
    rest(kRestNs);
  }
  return entries;
}

bool DiskCache::write(std::vector<Pending>& batch) {
  if (!catch_up(batch)) return false;
  std::vector<DiskEntry> entries = entries_for(batch);
  if (entries.empty()) return true;
  const std::uint64_t used_before = log_.used_bytes();
  std::uint64_t used = used_before;
  for (const DiskEntry& entry : entries) used += entry.bytes + kEntryBytes;
  errno = 0;
  bool written = log_.set_used_bytes(used);
  for (std::size_t i = 0; i < entries.size() && written; ++i) {
    written = write_at(data_.get(), entries[i].offset, batch[i].value->span());
  }
  if (written) {
    std::lock_guard lock(mutex_);
    written = log_.append(entries);
  }
  if (!written) give_up(entries, used_before, errno);
  return written;
}

// What was written of it is given back: a disk that is full needs it.
void DiskCache::give_up(const std::vector<DiskEntry>& entries, std::uint64_t used_before,
                        int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  failures_.full.fetch_add(full ? entries.size() : 0, std::memory_order_relaxed);
  log_warning("cache", "{}: nothing more is kept for {} s: {}", space_.folder(),
              kRestNs / 1'000'000'000, errno_status(error, "writing").message());
  if (::ftruncate(data_.get(), static_cast<off_t>(entries.front().offset)) == 0) {
    log_.set_used_bytes(used_before);
  }
}

void DiskCache::settle(const std::vector<Pending>& batch) {
  std::lock_guard lock(mutex_);
  std::uint64_t bytes = 0;
  for (const Pending& pending : batch) {
    bytes += pending.value->size();
    pending_.erase(pending.key.place);
    queue_.pop_front();
  }
  pending_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
}

// Gives the places of dead values back to the disk, neighbours together: only whole pages are
// freed. Where that is not possible they go on counting.
void DiskCache::punch(std::vector<DiskValue> holes) {
  std::sort(holes.begin(), holes.end(),
            [](const DiskValue& one, const DiskValue& other) { return one.offset < other.offset; });
  std::uint64_t freed = 0;
  for (std::size_t i = 0; i < holes.size();) {
    const std::uint64_t begin = holes[i].offset;
    std::uint64_t end = begin;
    for (; i < holes.size() && holes[i].offset == end; ++i) end += holes[i].bytes;
    if (::fallocate(data_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    static_cast<off_t>(begin), static_cast<off_t>(end - begin)) == 0) {
      freed += end - begin;
    }
  }
  if (freed > 0) log_.set_used_bytes(log_.used_bytes() - std::min(freed, log_.used_bytes()));
}

void DiskCache::rest(std::uint64_t ns) {
  resting_until_ns_.store(monotonic_ns() + ns, std::memory_order_relaxed);
}

}  // namespace echoline::cache
