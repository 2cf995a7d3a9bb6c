// Writes one shard: a ustar archive that appears under its name when it is complete, with its index
// beside it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/unique_fd.h"
#include "record/index/record_table.h"

namespace echoline::cli {

// Single-threaded. Owns the temporary file until close(); destroyed without it, nothing is left
// over.
class ShardWriter {
 public:
  static Result<ShardWriter> open(std::string path);
  ShardWriter(ShardWriter&& other) noexcept;
  ShardWriter& operator=(ShardWriter&&) = delete;
  ~ShardWriter();

  // Members of one record come between begin and the next begin or close.
  void begin(std::string_view key);
  // `name` has at most 100 bytes; mode, owner and time are the same for every file.
  Status add(std::string_view name, std::string_view data);
  // Ends the archive, flushes it, renames it and writes the index.
  Status close();

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t records() const { return table_.size() + (open_ ? 1 : 0); }

  // What a member costs in the archive.
  static std::uint64_t member_bytes(std::uint64_t data_bytes);

 private:
  ShardWriter(std::string path, std::string temporary, UniqueFd fd);
  Status put(std::string_view bytes);
  Status pad(std::uint64_t multiple);
  Status flush();
  void end_record();

  std::string path_;
  std::string temporary_;
  UniqueFd fd_;
  std::string buffer_;
  std::uint64_t bytes_ = 0;
  record::RecordTable table_;
  bool open_ = false;
  std::string key_;
  std::uint64_t start_ = 0;
  std::uint32_t crc_ = 0;  // of the record's bytes
};

}  // namespace echoline::cli
