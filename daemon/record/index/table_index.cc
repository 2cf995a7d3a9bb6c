// The index is the stored form itself; the shard of a record is found by bisection.
#include "record/index/table_index.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "record/index/listing.h"

namespace echoline::record {

TableIndex::TableIndex(StoredIndex stored)
    : stored_(std::move(stored)), tells_checksums_(!stored_.records.checksum.empty()) {
  for (const std::uint64_t bytes : stored_.records.bytes) {
    bytes_max_ = std::max(bytes_max_, bytes);
    bytes_total_ += bytes;
  }
}

// The last shard that starts at or before the record; shards without records start where the next
// does.
std::size_t TableIndex::shard_of(std::uint64_t record) const {
  const auto after = std::upper_bound(
      stored_.shards.begin(), stored_.shards.end(), record,
      [](std::uint64_t wanted, const Shard& shard) { return wanted < shard.first_record; });
  return static_cast<std::size_t>(after - stored_.shards.begin()) - 1;
}

Extent TableIndex::extent(std::uint64_t record) const {
  return {static_cast<std::uint32_t>(shard_of(record)), stored_.records.offset[record],
          stored_.records.bytes[record]};
}

std::string TableIndex::key(std::uint64_t record) const {
  const std::string_view key = stored_key(record);
  if (!key.empty()) return std::string(key);
  const Shard& shard = stored_.shards[shard_of(record)];
  return fmt::format("{}:{}", base_name(shard.object.url), record - shard.first_record);
}

std::uint32_t TableIndex::checksum(std::uint64_t record) const {
  return tells_checksums_ ? stored_.records.checksum[record] : 0;
}

TableDataSet::TableDataSet(StoredIndex stored) : index_(std::move(stored)) {
  for (const Shard& shard : index_.stored().shards) {
    if (shard.unpacked_bytes > 0) packed_[shard.object.url] = shard.unpacked_bytes;
  }
}

std::unique_ptr<source::Source> TableDataSet::reading(
    std::unique_ptr<source::Source> source) const {
  if (packed_.empty()) return source;
  return std::make_unique<UnpackingSource>(std::move(source), packed_, unpacking_);
}

RecordTable TableDataSet::table_of(std::size_t shard) const {
  const StoredIndex& stored = index_.stored();
  RecordTable table;
  table.append(stored.records, stored.shards[shard].first_record,
               stored.shards[shard].record_count);
  return table;
}

}  // namespace echoline::record
