// A disk cache's log in memory: which values there are and where they stand. Appended by several
// daemons in turn, read by all.
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

// Where a value stands in the data file.
struct DiskValue {
  std::uint64_t version = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};

// Not thread safe. "Locked": with the lock of the DiskSpace held.
class DiskLog {
 public:
  static Result<DiskLog> open(const std::string& path);

  // Locked. Takes in what others appended; cuts off what a killed writer left half written, and
  // begins anew where the header is not one. False: the file cannot be read or written now.
  bool refresh();
  // Any time: whether there is something to take in.
  bool grown() const;
  // Locked, after `refresh`. All entries or none.
  bool append(std::span<DiskEntry> entries);
  // Locked. What log and data take on the disk, for the cap.
  bool set_used_bytes(std::uint64_t bytes);
  std::uint64_t used_bytes() const { return header_.used_bytes; }

  const DiskValue* find(const Place& place) const;
  // Forgets a value that turned out bad, here and until the next start, if it is still there.
  std::optional<DiskValue> erase(const Place& place, std::uint64_t checksum);
  // Locked, and nobody else has the log open: a new log with only the values that `keep` wants, at
  // once in the place of the old one. The dropped ones are appended to `dropped`.
  bool rewrite(const std::function<bool(const Place&)>& keep, std::vector<DiskValue>& dropped);

  const std::unordered_map<Place, DiskValue, PlaceHash>& values() const { return values_; }
  std::size_t count() const { return values_.size(); }
  std::uint64_t live_bytes() const { return live_bytes_; }
  std::uint64_t data_end() const { return data_end_; }  // where the next value goes
  std::uint64_t log_bytes() const { return position_; }

 private:
  explicit DiskLog(std::string path) : path_(std::move(path)) {}
  bool begin_anew();
  bool read_tail();
  bool cut_off();
  void take(const DiskEntry& entry);
  void forget_all();

  std::string path_;
  UniqueFd file_;
  DiskHeader header_;
  std::uint64_t position_ = kHeaderBytes;  // end of the entries that are known
  std::unordered_map<Place, DiskValue, PlaceHash> values_;
  std::uint64_t live_bytes_ = 0;
  std::uint64_t data_end_ = 0;
};

}  // namespace echoline::cache
