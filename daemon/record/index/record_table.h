// Offsets, lengths and keys of records in three flat arrays: 24 bytes a record and its key; with
// checksums 28.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace echoline::record {

// Plain data; the owner guards it. Invariants: the arrays have one length, but for `checksum`,
// which has that length or none; key_end ascends and ends at keys.size().
struct RecordTable {
  std::vector<std::uint64_t> offset;  // within the record's shard
  std::vector<std::uint64_t> bytes;
  std::vector<std::uint64_t> key_end;  // in `keys`; a key starts where the one before ends
  std::string keys;
  std::vector<std::uint32_t> checksum;  // CRC-32C of the record's bytes; 0: not known

  std::size_t size() const { return offset.size(); }
  void add(std::uint64_t record_offset, std::uint64_t record_bytes, std::string_view key);
  std::string_view key(std::size_t record) const;
  // Records [first, first + count) of another table after those of this one.
  void append(const RecordTable& other, std::size_t first, std::size_t count);
  // Gives back what growing left over, once the last record is in.
  void shrink();
};

}  // namespace echoline::record
