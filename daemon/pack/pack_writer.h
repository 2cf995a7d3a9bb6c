// Writes one shard and its sidecar index. The archive appears under its name when it is complete.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/unique_fd.h"
#include "record/index/record_table.h"

namespace echoline::cli {

// Single-threaded. Owns a temporary file until close(); the destructor removes it.
class ShardWriter {
 public:
  static Result<ShardWriter> open(std::string path);
  ShardWriter(ShardWriter&& other) noexcept;
  ShardWriter& operator=(ShardWriter&&) = delete;
  ~ShardWriter();

  // Starts a record: the members that are added before the next begin or close.
  void begin(std::string_view key);
  // Adds a member. `name` has at most 100 bytes; mode, owner and time are the same for every file.
  Status add(std::string_view name, std::string_view data);
  // Ends the archive, flushes it, renames it and writes its index.
  Status close();

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t records() const { return table_.size() + (open_ ? 1 : 0); }

  // The size of a member in the archive.
  static std::uint64_t member_bytes(std::uint64_t data_bytes);

 private:
  ShardWriter(std::string path, std::string temporary, UniqueFd fd);
  // Appends bytes to the archive and to the record's checksum.
  Status put(std::string_view bytes);
  // Appends zeros up to a multiple of this.
  Status pad(std::uint64_t multiple);
  // Writes the buffer to the file.
  Status flush();
  // Enters the open record into the index.
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
