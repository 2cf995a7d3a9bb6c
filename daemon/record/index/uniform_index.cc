// The shard of a record is found by binary search.
#include "record/index/uniform_index.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "record/index/listing.h"

namespace echoline::record {

UniformIndex::UniformIndex(std::vector<UniformShard> shards) : shards_(std::move(shards)) {
  // One entry more than shards: the last one is the number of records.
  first_record_.push_back(0);
  for (const UniformShard& shard : shards_) {
    first_record_.push_back(first_record_.back() + shard.record_count);
    // A shard without records has no size that counts.
    if (shard.record_count > 0) bytes_max_ = std::max(bytes_max_, shard.record_bytes);
    bytes_total_ += shard.record_count * shard.record_bytes;
  }
}

Shard UniformIndex::shard(std::size_t shard_index) const {
  return {shards_[shard_index].object, first_record_[shard_index],
          shards_[shard_index].record_count};
}

std::size_t UniformIndex::shard_of(std::uint64_t record) const {
  const auto after = std::upper_bound(first_record_.begin(), first_record_.end(), record);
  return static_cast<std::size_t>(after - first_record_.begin()) - 1;
}

Extent UniformIndex::extent(std::uint64_t record) const {
  const std::size_t shard_index = shard_of(record);
  const UniformShard& shard = shards_[shard_index];
  const std::uint64_t number = record - first_record_[shard_index];
  return {static_cast<std::uint32_t>(shard_index), shard.first_byte + number * shard.stride_bytes,
          shard.record_bytes};
}

std::string UniformIndex::key(std::uint64_t record) const {
  const std::size_t shard_index = shard_of(record);
  return fmt::format("{}:{}", base_name(shards_[shard_index].object.url),
                     record - first_record_[shard_index]);
}

}  // namespace echoline::record
