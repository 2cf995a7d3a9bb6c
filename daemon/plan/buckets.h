// Records in buckets of similar lengths (batch.buckets).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace echoline::plan {

// The batches of one bucket.
struct BucketShape {
  std::uint64_t up_to = 0;  // largest length of its records; of the last bucket, longer ones too
  std::uint32_t rows = 1;   // of a batch
};

// Which records are in which bucket. Immutable; any thread may call it. Memory: 4 bytes for each
// record.
class Buckets {
 public:
  static constexpr std::uint64_t kRecordsMax = std::uint64_t{1} << 32;
  static std::uint64_t bytes_for(std::uint64_t record_count) { return record_count * 4; }

  // At least one shape, with ascending lengths; at most kRecordsMax records. Calls `length_of`
  // twice for each record.
  Buckets(std::vector<BucketShape> shapes, std::uint64_t record_count,
          const std::function<std::uint64_t(std::uint64_t record)>& length_of);

  std::size_t count() const { return shapes_.size(); }
  const BucketShape& shape(std::size_t bucket) const { return shapes_[bucket]; }
  std::uint64_t record_count() const { return records_.size(); }
  std::uint64_t size(std::size_t bucket) const { return begin_[bucket + 1] - begin_[bucket]; }
  // The records of a bucket are in the order of the index.
  std::uint64_t record(std::size_t bucket, std::uint64_t place) const {
    return records_[begin_[bucket] + place];
  }
  std::size_t bucket_of_length(std::uint64_t length) const;
  // Searches all buckets: for rare use.
  std::size_t bucket_of(std::uint64_t record) const;
  // One of the records of this bucket and those before it, chosen by a draw of any size.
  std::uint64_t record_up_to(std::size_t bucket, std::uint64_t draw) const {
    return records_[draw % begin_[bucket + 1]];
  }

 private:
  std::vector<BucketShape> shapes_;
  std::vector<std::uint64_t> begin_;    // of each bucket in records_, and the end
  std::vector<std::uint32_t> records_;  // bucket after bucket
};

}  // namespace echoline::plan
