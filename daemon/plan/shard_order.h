// Maps a position in an epoch's order of shards to a record of the index. Shards of equal size need
// no table.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/order_key.h"
#include "plan/permutation.h"

namespace echoline::plan {

// The shards of a stream in the order of the index. Immutable; any thread may call it.
class ShardTable {
 public:
  explicit ShardTable(const std::vector<std::uint64_t>& shard_records);

  std::uint64_t record_count() const { return record_count_; }
  std::uint64_t shard_count() const { return shard_count_; }
  // The number of records in every shard if all are equal, else 0.
  std::uint64_t even_records() const { return even_records_; }
  std::uint64_t first_record(std::uint64_t shard) const {
    return even_records_ > 0 ? shard * even_records_ : first_[shard];
  }

 private:
  std::uint64_t record_count_ = 0;
  std::uint64_t shard_count_ = 0;
  std::uint64_t even_records_ = 0;
  std::vector<std::uint64_t> first_;  // shard_count_ + 1 entries, unless even
};

// One epoch's permutation of the shards, or none. Immutable; any thread may call it. The table must
// outlive it.
class ShardOrder {
 public:
  // A range of positions with consecutive records. Callers keep the last one as a hint.
  struct Run {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t first_record = 0;
  };

  // Without a permutation: the order of the index.
  explicit ShardOrder(const ShardTable& table);
  ShardOrder(const ShardTable& table, const OrderKey& key);

  std::uint64_t record(std::uint64_t place, Run& hint) const {
    if (place < hint.begin || place >= hint.end) hint = run(place);
    return hint.first_record + (place - hint.begin);
  }
  Run run(std::uint64_t place) const;

 private:
  void build_table();
  Run table_run(std::uint64_t place) const;

  const ShardTable& table_;
  bool permuted_ = false;
  Permutation shuffle_;
  std::vector<std::uint64_t> begin_;  // first position of each shard in this order, and the end
  std::vector<std::uint32_t>
      guess_;  // for every 2^guess_shift_ positions, the index in begin_ to start from
  std::uint32_t guess_shift_ = 0;
};

}  // namespace echoline::plan
