// Prefix sums of the permuted shards. A table of first guesses shortens the binary search to a few
// entries.
#include "plan/shard_order.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace echoline::plan {

ShardTable::ShardTable(const std::vector<std::uint64_t>& shard_records)
    : record_count_(std::accumulate(shard_records.begin(), shard_records.end(), std::uint64_t{0})),
      shard_count_(shard_records.size()) {
  if (shard_records.empty()) return;
  const bool even = std::all_of(shard_records.begin(), shard_records.end(),
                                [&](std::uint64_t count) { return count == shard_records[0]; });
  if (even) {
    even_records_ = shard_records[0];
    return;
  }
  first_.reserve(shard_records.size() + 1);
  first_.push_back(0);
  for (const std::uint64_t count : shard_records) first_.push_back(first_.back() + count);
}

ShardOrder::ShardOrder(const ShardTable& table) : table_(table) {}

ShardOrder::ShardOrder(const ShardTable& table, const OrderKey& key)
    : table_(table), permuted_(true), shuffle_(table.shard_count(), key) {
  if (table.even_records() == 0) build_table();
}

void ShardOrder::build_table() {
  const std::uint64_t shards = table_.shard_count();
  begin_.reserve(shards + 1);
  begin_.push_back(0);
  for (std::uint64_t i = 0; i < shards; ++i) {
    const std::uint64_t shard = shuffle_(i);
    begin_.push_back(begin_.back() + table_.first_record(shard + 1) - table_.first_record(shard));
  }
  const std::uint64_t stretch = std::max<std::uint64_t>(1, table_.record_count() / shards);
  guess_shift_ = static_cast<std::uint32_t>(std::bit_width(stretch) - 1);
  std::uint32_t at = 0;
  for (std::uint64_t place = 0; place < table_.record_count();
       place += std::uint64_t{1} << guess_shift_) {
    while (begin_[at + 1] <= place) ++at;
    guess_.push_back(at);
  }
  guess_.push_back(static_cast<std::uint32_t>(shards - 1));
}

ShardOrder::Run ShardOrder::run(std::uint64_t place) const {
  if (!permuted_) return {0, table_.record_count(), 0};
  const std::uint64_t even = table_.even_records();
  if (even == 0) return table_run(place);
  const std::uint64_t at = place / even;
  return {at * even, (at + 1) * even, shuffle_(at) * even};
}

ShardOrder::Run ShardOrder::table_run(std::uint64_t place) const {
  const std::uint64_t stretch = place >> guess_shift_;
  // The shard is between the first guesses of this stretch and of the next one.
  const auto from = begin_.begin() + guess_[stretch];
  const auto to = begin_.begin() + guess_[stretch + 1] + 2;
  const auto after = std::upper_bound(from, to, place);
  const auto at = static_cast<std::uint64_t>(after - begin_.begin()) - 1;
  return {begin_[at], begin_[at + 1], table_.first_record(shuffle_(at))};
}

}  // namespace echoline::plan
