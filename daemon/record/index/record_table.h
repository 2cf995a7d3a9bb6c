// Offsets, lengths and keys of records in flat arrays: 24 bytes and the key per record, 28 with
// checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace echoline::record {

// Bytes of a shard that a record needs in addition to its own: a file that one of its links leads
// to.
struct RecordPart {
  std::uint64_t record = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;

  bool operator==(const RecordPart&) const = default;
};

// Plain data; its owner synchronises access. Invariants: all arrays have the same length, except
// `checksum`, which has that length or none; key_end ascends and ends at keys.size(). Several
// tables in one are trusted if all of them with checksums are.
struct RecordTable {
  std::vector<std::uint64_t> offset;  // within the record's shard
  std::vector<std::uint64_t> bytes;
  std::vector<std::uint64_t> key_end;  // in `keys`; a key starts at the end of the one before
  std::string keys;
  std::vector<std::uint32_t> checksum;  // CRC-32C of the record's bytes; 0: not known
  bool trusted = false;                 // as Index::trusts_checksums()
  // Ascending by record and then by offset, without overlaps within a record. A record with parts
  // has no checksum.
  std::vector<RecordPart> parts;

  std::size_t size() const { return offset.size(); }
  void add(std::uint64_t record_offset, std::uint64_t record_bytes, std::string_view key);
  std::string_view key(std::size_t record) const;
  std::span<const RecordPart> parts_of(std::size_t record) const;
  // Appends records [first, first + count) of another table.
  void append(const RecordTable& other, std::size_t first, std::size_t count);
  // Records [first, first + count).
  RecordTable part(std::size_t first, std::size_t count) const;
  // Frees the unused capacity; call it after the last record.
  void shrink();
};

}  // namespace echoline::record
