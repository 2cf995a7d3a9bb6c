// A scan of a shard as it is stored, which another scan can continue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "record/index/record_table.h"
#include "record/index/shard_scan.h"

namespace echoline::record {

// Its last record may still grow. It has no checksums.
class ResumableScan : public ShardScan {
 public:
  explicit ResumableScan(std::uint64_t shard_bytes) : shard_bytes_(shard_bytes) {}

  std::uint64_t position() const final { return position_; }
  RecordTable take_table() override { return std::move(table_); }
  const RecordTable& table() const final { return table_; }
  std::size_t complete() const final { return table_.size() == 0 ? 0 : table_.size() - 1; }
  ScanPart part(std::size_t first, std::size_t last) const override {
    return {.begin = first == 0 ? 0 : table_.offset[first],
            .end = table_.offset[last],
            .records = table_.part(first, last - first),
            .more = {}};
  }
  bool restore(const ScanPart& part) override {
    position_ = part.end;
    table_.append(part.records, 0, part.records.size());
    table_.checksum.clear();
    return true;
  }

 protected:
  std::uint64_t shard_bytes_;
  std::uint64_t position_ = 0;
  RecordTable table_;
};

}  // namespace echoline::record
