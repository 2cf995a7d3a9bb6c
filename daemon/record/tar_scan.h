// Finds the records of one tar shard from windows of its bytes, skipping over the files' contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "record/record_table.h"
#include "record/tar_member.h"

namespace echoline::record {

// Consecutive files with one key are one record; an extension that comes a second time starts the
// next. Single-threaded; owns its table until it is taken.
class TarScan {
 public:
  explicit TarScan(std::uint64_t shard_bytes) : shard_bytes_(shard_bytes) {}

  bool done() const { return done_; }
  // Where the next window must start, and how long it must be at least.
  std::uint64_t position() const { return position_; }
  std::uint64_t needed() const { return needed_; }

  // Takes the shard's bytes from position() on. Errors name the offset.
  Status take(std::span<const std::byte> window);

  // After done(). A truncated shard's last record is in the table, and is found bad when it is cut.
  const RecordTable& table() const { return table_; }
  RecordTable take_table() { return std::move(table_); }
  bool truncated() const { return truncated_; }

 private:
  void take_member(const TarMember& member);
  void start_record(const SampleName& name);
  void close_record();
  void finish_truncated();

  std::uint64_t shard_bytes_;
  std::uint64_t position_ = 0;
  std::uint64_t needed_ = 512;
  bool done_ = false;
  bool truncated_ = false;
  RecordTable table_;

  // The record being gathered.
  bool open_ = false;
  std::uint64_t record_start_ = 0;
  std::uint64_t record_end_ = 0;
  std::string key_;
  std::vector<std::string> extensions_;
};

}  // namespace echoline::record
