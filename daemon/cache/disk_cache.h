// Values kept on a local disk: over restarts, shared by all daemons that name the same folder.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "base/unique_fd.h"
#include "cache/disk_log.h"
#include "cache/disk_space.h"
#include "cache/record_key.h"

namespace echoline::cache {

struct DiskFailures {
  std::atomic<std::uint64_t> corrupt{0};  // a value that was not what had been written
  std::atomic<std::uint64_t> full{0};     // values not kept: the cap is reached, or the disk full
  std::atomic<std::uint64_t> dropped{0};  // values not kept: the disk is slower than they came
  std::atomic<std::uint64_t> error{0};    // reads and writes that failed
};

// Any thread may call any of it. `read` and `flush` block on the disk, the others do not.
// Invariants: 1. what `read` gives is what was offered for that key, checked by its checksum. 2. An
// entry of the log is written after its value; what a crash leaves half done is found and cut off.
// 3. Log and data of all data sets below the path stay under the cap.
class DiskCache {
 public:
  // What a value in the table costs in memory, for the memory budget.
  static constexpr std::uint64_t kOverheadBytes = 104;

  struct Options {
    std::string path;
    std::uint64_t cap_bytes = 0;
    std::string set;                      // of 32 hex digits: which data set
    std::uint64_t wanted_bytes = 0;       // that this stream would like to keep
    std::uint64_t pending_bytes_max = 0;  // offered and not yet written
    // Whether a place is still one to be kept; asked only where the cap is short.
    std::function<bool(const Place&)> is_wanted{};
  };
  static Result<std::unique_ptr<DiskCache>> open(Options options);

  bool holds(const RecordKey& key, std::uint64_t bytes) const;
  enum class Read : std::uint8_t { kHit, kMiss };
  Read read(const RecordKey& key, std::span<std::byte> destination);
  // To be written by the next `flush`. False: not kept.
  bool offer(const RecordKey& key, std::shared_ptr<const Buffer> value);
  bool has_pending() const { return pending_bytes_.load(std::memory_order_relaxed) > 0; }
  // Writes some of what is pending; in a second at most, but for the disk's own time.
  void flush();
  // Takes in what other daemons have written.
  void refresh();

  std::uint64_t bytes() const;
  std::size_t count() const;
  const DiskFailures& failures() const { return failures_; }

 private:
  static constexpr std::uint64_t kLockTimeoutNs = 1'000'000'000;

  struct Pending {
    RecordKey key;
    std::shared_ptr<const Buffer> value;
  };

  DiskCache(Options options, DiskSpace space, DiskLog log, UniqueFd data);
  void recover();
  void reclaim();
  std::unordered_set<Place, PlaceHash> affordable() const;
  void warn_of_little_room() const;
  std::vector<Pending> next_batch() const;
  bool catch_up(std::vector<Pending>& batch);
  std::vector<DiskEntry> entries_for(const std::vector<Pending>& batch);
  bool write(std::vector<Pending>& batch);
  void give_up(const std::vector<DiskEntry>& entries, std::uint64_t used_before, int error);
  void settle(const std::vector<Pending>& batch);
  void forget(const RecordKey& key, std::uint64_t checksum);
  void punch(std::vector<DiskValue> holes);
  void rest(std::uint64_t ns);

  const Options options_;
  const DiskSpace space_;
  const UniqueFd data_;
  std::mutex commit_mutex_;  // before mutex_
  mutable std::mutex mutex_;
  DiskLog log_;
  std::deque<Pending> queue_;
  std::unordered_map<Place, Pending, PlaceHash> pending_;
  std::vector<DiskValue> holes_;  // values found bad, to be given back to the disk
  std::atomic<std::uint64_t> pending_bytes_{0};
  std::atomic<std::uint64_t> resting_until_ns_{0};  // after a refusal, nothing is offered
  DiskFailures failures_;
};

}  // namespace echoline::cache
