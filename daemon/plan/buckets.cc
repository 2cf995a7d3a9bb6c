#include "plan/buckets.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace echoline::plan {

// A counting sort.
Buckets::Buckets(std::vector<BucketShape> shapes, std::uint64_t record_count,
                 const std::function<std::uint64_t(std::uint64_t record)>& length_of)
    : shapes_(std::move(shapes)), begin_(shapes_.size() + 1), records_(record_count) {
  ECHOLINE_CHECK(!shapes_.empty() && record_count <= kRecordsMax);
  for (std::uint64_t record = 0; record < record_count; ++record) {
    ++begin_[bucket_of_length(length_of(record)) + 1];
  }
  for (std::size_t bucket = 0; bucket < count(); ++bucket) begin_[bucket + 1] += begin_[bucket];
  std::vector<std::uint64_t> next(begin_.begin(), begin_.end() - 1);
  for (std::uint64_t record = 0; record < record_count; ++record) {
    const std::size_t bucket = bucket_of_length(length_of(record));
    records_[next[bucket]++] = static_cast<std::uint32_t>(record);
  }
}

std::size_t Buckets::bucket_of_length(std::uint64_t length) const {
  const auto found = std::lower_bound(
      shapes_.begin(), shapes_.end() - 1, length,
      [](const BucketShape& shape, std::uint64_t wanted) { return shape.up_to < wanted; });
  return static_cast<std::size_t>(found - shapes_.begin());
}

std::size_t Buckets::bucket_of(std::uint64_t record) const {
  const auto at = [this](std::size_t bucket) {
    return records_.begin() + static_cast<std::ptrdiff_t>(begin_[bucket]);
  };
  std::size_t bucket = 0;
  while (!std::binary_search(at(bucket), at(bucket + 1), record)) ++bucket;
  return bucket;
}

}  // namespace echoline::plan
