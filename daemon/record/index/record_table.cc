// Appending keeps the invariants.
#include "record/index/record_table.h"

#include <algorithm>

namespace echoline::record {
namespace {

// The first part of this record or a later one.
std::vector<RecordPart>::const_iterator first_part(const std::vector<RecordPart>& parts,
                                                   std::size_t record) {
  return std::lower_bound(
      parts.begin(), parts.end(), record,
      [](const RecordPart& part, std::size_t wanted) { return part.record < wanted; });
}

}  // namespace

void RecordTable::add(std::uint64_t record_offset, std::uint64_t record_bytes,
                      std::string_view key) {
  offset.push_back(record_offset);
  bytes.push_back(record_bytes);
  keys.append(key);
  key_end.push_back(keys.size());
  // The array is as long as the others; 0 means not known.
  if (!checksum.empty()) checksum.push_back(0);
}

std::string_view RecordTable::key(std::size_t record) const {
  const std::uint64_t start = record == 0 ? 0 : key_end[record - 1];
  return std::string_view(keys).substr(start, key_end[record] - start);
}

std::span<const RecordPart> RecordTable::parts_of(std::size_t record) const {
  return {first_part(parts, record), first_part(parts, record + 1)};
}

void RecordTable::append(const RecordTable& other, std::size_t first, std::size_t count) {
  const std::size_t before = size();
  for (std::size_t record = first; record < first + count; ++record) {
    add(other.offset[record], other.bytes[record], other.key(record));
  }
  for (auto part = first_part(other.parts, first);
       part != other.parts.end() && part->record < first + count; ++part) {
    parts.push_back({part->record - first + before, part->offset, part->bytes});
  }
  if (other.checksum.empty()) return;
  // Trusted only if all tables with checksums are.
  trusted = other.trusted && (trusted || checksum.empty());
  checksum.resize(size());
  std::copy_n(other.checksum.begin() + static_cast<std::ptrdiff_t>(first), count,
              checksum.begin() + static_cast<std::ptrdiff_t>(before));
}

RecordTable RecordTable::part(std::size_t first, std::size_t count) const {
  RecordTable table;
  table.append(*this, first, count);
  return table;
}

void RecordTable::shrink() {
  offset.shrink_to_fit();
  bytes.shrink_to_fit();
  key_end.shrink_to_fit();
  keys.shrink_to_fit();
  checksum.shrink_to_fit();
  parts.shrink_to_fit();
}

}  // namespace echoline::record
