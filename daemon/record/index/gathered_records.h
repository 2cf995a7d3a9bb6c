// Records that consist of several parts of their shard, and their extents.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "record/core/index.h"
#include "record/index/gathered_parts.h"
#include "record/index/stored_index.h"

namespace echoline::record {

// Immutable; any thread may read it. The extents of gathered records follow each other beyond the
// end of their shard, in the order of the records; their bytes are the record's own and then those
// of its parts.
class GatheredRecords final : public GatheredParts {
 public:
  explicit GatheredRecords(const StoredIndex& index);

  bool empty() const { return records_.empty(); }
  // Null for a record in one piece.
  const Extent* find(std::uint64_t record) const;
  // The parts that make up an extent of `find`; empty for any other place.
  std::vector<ByteRange> parts_at(const std::string& url, std::uint64_t offset) const override;

 private:
  struct Record {
    std::uint64_t record = 0;
    Extent extent;
    std::size_t parts_end = 0;  // in parts_
  };
  std::vector<Record> records_;  // ascending, so extents of a shard ascend, too
  std::vector<ByteRange> parts_;
  std::unordered_map<std::string, std::uint32_t> shards_;  // those with gathered records
};

}  // namespace echoline::record
