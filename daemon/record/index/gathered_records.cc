#include "record/index/gathered_records.h"

#include <algorithm>
#include <utility>

namespace echoline::record {

GatheredRecords::GatheredRecords(const StoredIndex& index) {
  const RecordTable& table = index.records;
  std::uint32_t shard = 0;
  std::uint64_t end = 0;  // of the last extent in the shard
  for (auto part = table.parts.begin(); part != table.parts.end();) {
    const std::uint64_t record = part->record;
    const std::uint32_t before = shard;
    while (record >= index.shards[shard].first_record + index.shards[shard].record_count) ++shard;
    if (records_.empty() || shard != before) {
      end = index.shards[shard].extents_end();
      shards_.emplace(index.shards[shard].object.url, shard);
    }
    Extent extent{shard, end, table.bytes[record]};
    parts_.push_back({table.offset[record], table.bytes[record]});
    for (; part != table.parts.end() && part->record == record; ++part) {
      parts_.push_back({part->offset, part->bytes});
      extent.bytes += part->bytes;
    }
    end += extent.bytes;
    records_.push_back({record, extent, parts_.size()});
  }
}

const Extent* GatheredRecords::find(std::uint64_t record) const {
  const auto found = std::lower_bound(
      records_.begin(), records_.end(), record,
      [](const Record& gathered, std::uint64_t wanted) { return gathered.record < wanted; });
  return found == records_.end() || found->record != record ? nullptr : &found->extent;
}

std::vector<ByteRange> GatheredRecords::parts_at(const std::string& url,
                                                 std::uint64_t offset) const {
  const auto shard = shards_.find(url);
  if (shard == shards_.end()) return {};
  const std::pair wanted(shard->second, offset);
  const auto found = std::lower_bound(records_.begin(), records_.end(), wanted,
                                      [](const Record& a, const auto& b) {
                                        return std::pair(a.extent.shard, a.extent.offset) < b;
                                      });
  if (found == records_.end() || std::pair(found->extent.shard, found->extent.offset) != wanted) {
    return {};
  }
  const std::size_t first = found == records_.begin() ? 0 : std::prev(found)->parts_end;
  const auto all = parts_.begin();
  return {all + static_cast<std::ptrdiff_t>(first),
          all + static_cast<std::ptrdiff_t>(found->parts_end)};
}

}  // namespace echoline::record
