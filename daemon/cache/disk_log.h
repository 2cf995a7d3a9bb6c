// A disk cache's log, and its table in memory: which values exist and where they are in the data
// file. Several daemons append to the log in turn; all read it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"
#include "cache/disk_format.h"

namespace echoline::cache {

// The location of a value in the data file.
struct DiskValue {
  std::uint64_t version = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};

// Not thread-safe. "Locked": only with the lock of the DiskSpace held.
class DiskLog {
 public:
  static Result<DiskLog> open(const std::string& path);

  // Locked. Reads what other daemons appended. Truncates entries that a killed writer left half
  // written, and starts a new log if the header is invalid. False: reading or writing failed.
  bool refresh();
  // Whether the log has entries that refresh has not read. Needs no lock.
  bool grown() const;
  // Locked, after `refresh`. Appends all entries or none.
  bool append(std::span<DiskEntry> entries);
  // Locked. The disk space of log and data, which counts for the cap.
  bool set_used_bytes(std::uint64_t bytes);
  std::uint64_t used_bytes() const { return header_.used_bytes; }

  const DiskValue* find(const Hash128& location) const;
  // Removes a bad value from the table, unless it was replaced. Its entry stays in the log, so the
  // value is known again after a restart.
  std::optional<DiskValue> erase(const Hash128& location, std::uint64_t checksum);
  // Locked, and only while no other daemon has the log open. Atomically replaces the log by a new
  // one with the values for which `keep` returns true. Appends the others to `dropped`.
  bool rewrite(const std::function<bool(const Hash128&)>& keep, std::vector<DiskValue>& dropped);

  const std::unordered_map<Hash128, DiskValue, Hash128Hasher>& values() const { return values_; }
  std::size_t count() const { return values_.size(); }
  std::uint64_t live_bytes() const { return live_bytes_; }
  std::uint64_t data_end() const { return data_end_; }  // the offset of the next value
  std::uint64_t log_bytes() const { return position_; }

 private:
  explicit DiskLog(std::string path) : path_(std::move(path)) {}
  // Makes the file an empty log with a new generation.
  bool start_new_log();
  // Reads the entries behind position_; cuts off what is not valid.
  bool read_tail();
  // Truncates the log at position_.
  bool cut_off();
  // Adds an entry to the table.
  void take(const DiskEntry& entry);
  // Empties the table.
  void forget_all();

  std::string path_;
  UniqueFd file_;
  DiskHeader header_;
  std::uint64_t position_ = kHeaderBytes;  // the end of the entries that were read
  std::unordered_map<Hash128, DiskValue, Hash128Hasher> values_;
  std::uint64_t live_bytes_ = 0;
  std::uint64_t data_end_ = 0;
};

}  // namespace echoline::cache
