#include "cache/admission.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace echoline::cache {
namespace {

// The unit of the choice: large enough that records outside a level are read in few requests.
constexpr std::uint64_t kBlockBytesMax = 256 << 10;
// Small data sets have smaller blocks, so that their hits are spread evenly, too.
constexpr std::uint64_t kBlocksMin = 4096;
// The low bits of a rank order the records within a block.
constexpr int kRecordBits = 24;
// Ranks are sorted by their first bits; only the bucket in which a level ends is examined exactly.
constexpr int kBucketBits = 16;
// In larger data sets, only every n-th record is counted, with n times its size.
constexpr std::uint64_t kWeighedMax = 4'000'000;

// With a seed that nothing else uses: the choice must be independent of the stream's order.
std::uint64_t hash(std::uint64_t low, std::uint64_t high) {
  const std::array<std::uint64_t, 2> words = {low, high};
  return XXH3_64bits_withSeed(words.data(), sizeof words, 0x63616368652d6d65);
}

}  // namespace

Admission::Admission(const DataSetSize& data, const Capacities& capacities)
    : data_(data),
      // At least one byte, so that the division in rank() is defined.
      block_bytes_(std::clamp<std::uint64_t>(data.bytes / kBlocksMin, 1, kBlockBytesMax)) {
  // Each level begins where the one before ends.
  memory_ = range_after({}, capacities.memory);
  disk_ = range_after(memory_, capacities.disk);
  fleet_ = range_after(disk_, capacities.fleet);
}

std::uint64_t Admission::rank(std::uint64_t record) const {
  const RecordPlace place = data_.place_of(record);
  const std::uint64_t block = hash(place.offset / block_bytes_, place.shard);
  // High bits: the block. Low bits: the record, which matter only in the block where a level ends.
  return block >> kRecordBits << kRecordBits |
         hash(record, ~std::uint64_t{0}) >> (64 - kRecordBits);
}

// The range begins where the previous level ends. It ends before the first record that no longer
// fits, if records are taken in the order of their ranks.
Admission::Range Admission::range_after(const Range& before, const Capacity& capacity) const {
  const std::uint64_t begin = before.end();
  // A level without room holds nothing and moves no border.
  if (capacity.bytes == 0) return {.begin = begin};
  if (capacity.bytes >= data_.bytes + data_.records * capacity.record_overhead) {
    return {.begin = begin, .all = true};
  }
  const std::uint64_t stride = (data_.records + kWeighedMax - 1) / kWeighedMax;
  // A counted record represents `stride` records.
  const auto weight_of = [&](std::uint64_t record) {
    return (data_.place_of(record).bytes + capacity.record_overhead) * stride;
  };
  std::vector<std::uint64_t> weight(std::size_t{1} << kBucketBits);
  for (std::uint64_t record = 0; record < data_.records; record += stride) {
    // Unsigned difference: distances from `begin` wrap around like the range itself.
    weight[(rank(record) - begin) >> (64 - kBucketBits)] += weight_of(record);
  }
  std::uint64_t bucket = 0;
  std::uint64_t sum = 0;
  // Whole buckets first. The bucket where the sum exceeds the room is examined below.
  while (bucket < weight.size() && sum + weight[bucket] <= capacity.bytes) sum += weight[bucket++];
  if (bucket == weight.size()) return {.begin = begin, .all = true};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> last;  // distance from `begin`, weight
  for (std::uint64_t record = 0; record < data_.records; record += stride) {
    const std::uint64_t distance = rank(record) - begin;
    if (distance >> (64 - kBucketBits) == bucket) last.emplace_back(distance, weight_of(record));
  }
  std::sort(last.begin(), last.end());
  for (const auto& [distance, record_bytes] : last) {
    if (sum + record_bytes > capacity.bytes) return {.begin = begin, .length = distance};
    sum += record_bytes;
  }
  // Rounding of the sampled weights: the whole bucket fits after all.
  return {.begin = begin, .length = last.back().first + 1};
}

}  // namespace echoline::cache
