#include "record/select/selected_index.h"

#include <algorithm>
#include <utility>

namespace echoline::record {

SelectedIndex::SelectedIndex(const Index& whole, std::vector<std::uint32_t> records)
    : whole_(whole), records_(std::move(records)) {
  for (const std::uint32_t record : records_) {
    const std::uint64_t bytes = whole_.extent(record).bytes;
    bytes_max_ = std::max(bytes_max_, bytes);
    bytes_total_ += bytes;
  }
}

Shard SelectedIndex::shard(std::size_t shard_index) const {
  Shard shard = whole_.shard(shard_index);
  const auto begin = std::lower_bound(records_.begin(), records_.end(), shard.first_record);
  const auto end = std::lower_bound(begin, records_.end(), shard.first_record + shard.record_count);
  shard.first_record = static_cast<std::uint64_t>(begin - records_.begin());
  shard.record_count = static_cast<std::uint64_t>(end - begin);
  return shard;
}

}  // namespace echoline::record
