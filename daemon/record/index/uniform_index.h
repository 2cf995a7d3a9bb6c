// The index of files with records of one size at one distance: computed, without a table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/core/index.h"

namespace echoline::record {

// Records of one file: record i is [first_byte + i * stride_bytes, + record_bytes).
struct UniformShard {
  source::ObjectInfo object;
  std::uint64_t record_count = 0;
  std::uint64_t first_byte = 0;
  std::uint64_t record_bytes = 0;
  std::uint64_t stride_bytes = 0;
};

// The key of a record is "FILE:NUMBER", counted from 0 in its file. Immutable; any thread may read
// it.
class UniformIndex final : public Index {
 public:
  explicit UniformIndex(std::vector<UniformShard> shards);
  std::uint64_t record_count() const override { return first_record_.back(); }
  std::size_t shard_count() const override { return shards_.size(); }
  Shard shard(std::size_t shard_index) const override;
  Extent extent(std::uint64_t record) const override;
  std::string key(std::uint64_t record) const override;
  std::uint64_t record_bytes_max() const override { return bytes_max_; }
  std::uint64_t record_bytes_total() const override { return bytes_total_; }

  std::size_t shard_of(std::uint64_t record) const;
  std::uint64_t first_record(std::size_t shard) const { return first_record_[shard]; }

 private:
  const std::vector<UniformShard> shards_;
  std::vector<std::uint64_t>
      first_record_;  // one more than shards: the last is the number of records
  std::uint64_t bytes_max_ = 0;
  std::uint64_t bytes_total_ = 0;
};

}  // namespace echoline::record
