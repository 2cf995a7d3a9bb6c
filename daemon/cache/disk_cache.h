// Values kept on a local disk: they survive restarts, and daemons that name the same folder share
// them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/mutex.h"
#include "base/status.h"
#include "base/unique_fd.h"
#include "cache/disk_log.h"
#include "cache/disk_options.h"
#include "cache/disk_queue.h"
#include "cache/disk_space.h"
#include "cache/record_key.h"

namespace echoline::cache {

// Any thread may call any method. `read`, `flush` and `refresh` block on the disk, the others do
// not. Invariants: 1. `read` returns what was offered for that key, verified by a checksum. 2. A
// value is written before its log entry; recovery finds and removes what a crash left half written.
// 3. Log and data of all data sets below the path stay under the cap.
// A daemon changes the files only with the lock file of DiskSpace locked, because other daemons
// change them too.
class DiskCache {
 public:
  // The memory that the table needs per value, for the memory budget.
  static constexpr std::uint64_t kOverheadBytes = 104;

  using Options = DiskOptions;
  static Result<std::unique_ptr<DiskCache>> open(Options options);

  // Whether a value of this size is queued or on the disk.
  bool holds(const RecordKey& key, std::uint64_t bytes) const;
  enum class Read : std::uint8_t { kHit, kMiss };
  // Fills `destination`, whose size is that of the value.
  Read read(const RecordKey& key, std::span<std::byte> destination);
  // Queues a value for the next `flush`. False: it is not kept.
  bool offer(const RecordKey& key, std::shared_ptr<const Buffer> value);
  bool has_pending() const { return !queue_.empty(); }
  // Writes some of the queued values. Waits at most one second for the lock file, plus the time of
  // the disk.
  void flush();
  // Reads the log entries that other daemons have appended.
  void refresh();

  // Of the values on the disk.
  std::uint64_t bytes() const;
  std::size_t count() const;
  const DiskFailures& failures() const { return failures_; }

 private:
  using Batch = std::vector<DiskQueue::Value>;

  DiskCache(Options options, DiskSpace space, DiskLog log, UniqueFd data);
  // Drops a value that can't be read, unless it was replaced meanwhile.
  void forget(const RecordKey& key, std::uint64_t checksum);
  // Refuses new values for a while.
  void pause_offers();

  // The steps of flush, with the lock file held too; defined in disk_commit.cc.
  bool write(Batch& batch) ECHOLINE_REQUIRES(commit_mutex_);
  bool catch_up(Batch& batch) ECHOLINE_REQUIRES(commit_mutex_);
  std::vector<DiskEntry> entries_for(const Batch& batch) ECHOLINE_REQUIRES(commit_mutex_);
  void give_up(const std::vector<DiskEntry>& entries, std::uint64_t used_before, int error)
      ECHOLINE_REQUIRES(commit_mutex_);

  const Options options_;
  const DiskSpace space_;
  const UniqueFd data_;
  DiskQueue queue_;
  Mutex commit_mutex_ ECHOLINE_ACQUIRED_BEFORE(mutex_);
  mutable Mutex mutex_;
  // Its table is guarded by mutex_, the rest (file, header, ends) by commit_mutex_.
  DiskLog log_;
  // Values found bad; flush frees their disk space.
  std::vector<DiskValue> holes_ ECHOLINE_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> paused_until_ns_{0};
  DiskFailures failures_;
};

}  // namespace echoline::cache
