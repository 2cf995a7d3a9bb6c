// The seek indexes of a data set's JPEG files: kept from the first decoding of a file on, for all
// passes and, in a file, for the next start.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "jpeg/seek_point.h"
#include "seek/entry_table.h"
#include "seek/log.h"

namespace echoline::seek {

// Never evicts. If there is no room for all files, a hash of their numbers decides which ones are
// kept, so that these are spread evenly over the data set. Any thread.
class Indexes {
 public:
  struct Options {
    std::uint64_t files = 0;  // JPEG files of the data set, at most
    std::uint64_t capacity_bytes = 0;
    std::string path = {};               // of the log; empty: none
    std::uint64_t identity = 0;          // of the data set and of the numbers of its files
    std::uint64_t unused_bytes_max = 0;  // of the logs in the folder that nobody uses
  };
  // Reads the log. One that cannot be used is not an error: it is logged, and the indexes are kept
  // in memory.
  explicit Indexes(const Options& options);
  // Writes what is not written yet.
  ~Indexes() { write(); }
  Indexes(const Indexes&) = delete;
  Indexes& operator=(const Indexes&) = delete;

  // The points of a file with exactly these bytes, or none. Valid as long as this.
  jpeg::SeekPoints find(std::uint64_t file, jpeg::Bytes bytes);
  // Keeps the points, if the file is chosen and has none yet. They must be those of `bytes`.
  void offer(std::uint64_t file, jpeg::Bytes bytes, jpeg::SeekPoints points);

  bool has_log() const { return has_log_; }
  // Called by the thread that has offered the first entry since the last `write`, and must only
  // notify who calls `write`. Not called if there is no log. Before the first `offer`.
  void set_on_new(std::function<void()> on_new) { on_new_ = std::move(on_new); }
  // Appends new entries to the log. One thread at a time. Blocks on the disk.
  void write();

  std::uint64_t hits() const { return hits_.load(std::memory_order_relaxed); }
  std::uint64_t misses() const { return misses_.load(std::memory_order_relaxed); }
  std::uint64_t bytes() const { return table_.bytes(); }
  // Takes no more entries. Returns the bytes of those that there are.
  std::uint64_t close() { return table_.close(); }

 private:
  // Whether the file is chosen. `cost` is that of its entry.
  bool choose(std::uint64_t file, std::uint64_t cost);
  void read_log(const std::string& path);

  const std::uint64_t files_;
  const std::uint64_t capacity_bytes_;
  const std::uint64_t identity_;
  EntryTable table_;
  std::atomic<std::uint64_t> hits_{0};
  std::atomic<std::uint64_t> misses_{0};
  // Of all entries that were offered: how many would fit.
  std::atomic<std::uint64_t> offered_{0};
  std::atomic<std::uint64_t> offered_bytes_{0};

  bool has_log_ = false;
  std::function<void()> on_new_;
  std::atomic<bool> has_new_{false};
  // Of the thread that writes.
  std::optional<Log> log_;
  EntryTable::Position written_;
};

}  // namespace echoline::seek
