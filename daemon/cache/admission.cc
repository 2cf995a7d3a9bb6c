#include "cache/admission.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace echoline::cache {
namespace {

constexpr std::uint64_t kBlockBytesMax = 256 << 10;
// A small data set has small blocks, so that its hits are spread as evenly.
constexpr std::uint64_t kBlocksMin = 4096;
constexpr int kRecordBits = 24;
// Ranks are sorted by their first bits; only the bucket where a level ends is looked at closely.
constexpr int kBucketBits = 16;
// Of larger data sets every n-th record is weighed.
constexpr std::uint64_t kWeighedMax = 4'000'000;

// A seed of its own: the share must not follow the stream's order.
std::uint64_t hash(std::uint64_t low, std::uint64_t high) {
  const std::array<std::uint64_t, 2> words = {low, high};
  return XXH3_64bits_withSeed(words.data(), sizeof words, 0x63616368652d6d65);
}

}  // namespace

Admission::Admission(const DataSetSize& data, const Capacities& capacities)
    : data_(data),
      block_bytes_(std::clamp<std::uint64_t>(data.bytes / kBlocksMin, 1, kBlockBytesMax)) {
  memory_ = range(0, capacities.memory);
  const std::uint64_t disk_begin = std::min(capacities.memory, data.bytes);
  disk_ = range(disk_begin, capacities.disk);
  fleet_ = range(std::min(disk_begin + std::min(capacities.disk, data.bytes), data.bytes),
                 capacities.fleet);
}

std::uint64_t Admission::rank(std::uint64_t record) const {
  const RecordPlace place = data_.place_of(record);
  const std::uint64_t block = hash(place.offset / block_bytes_, place.shard);
  return block >> kRecordBits << kRecordBits |
         hash(record, ~std::uint64_t{0}) >> (64 - kRecordBits);
}

Admission::Range Admission::range(std::uint64_t begin_bytes, std::uint64_t bytes) const {
  if (bytes == 0) return {};
  if (bytes >= data_.bytes) return {.all = true};
  if (begin_bytes >= data_.bytes) begin_bytes = 0;
  const std::uint64_t begin = rank_after(begin_bytes);
  const std::uint64_t end_bytes = begin_bytes + bytes;
  const std::uint64_t end =
      end_bytes > data_.bytes ? rank_after(end_bytes - data_.bytes) : rank_after(end_bytes);
  return {.begin = begin, .length = end - begin};
}

// The first rank that no longer fits when records are taken in the order of their ranks.
std::uint64_t Admission::rank_after(std::uint64_t bytes) const {
  if (bytes == 0 || bytes >= data_.bytes) return 0;  // of a circle: its end is its beginning
  const std::uint64_t stride = (data_.records + kWeighedMax - 1) / kWeighedMax;
  std::vector<std::uint64_t> weight(std::size_t{1} << kBucketBits);
  for (std::uint64_t record = 0; record < data_.records; record += stride) {
    weight[rank(record) >> (64 - kBucketBits)] += data_.place_of(record).bytes * stride;
  }
  std::uint64_t bucket = 0;
  std::uint64_t sum = 0;
  while (bucket < weight.size() && sum + weight[bucket] <= bytes) sum += weight[bucket++];
  if (bucket == weight.size()) return ~std::uint64_t{0};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> last;  // rank, bytes
  for (std::uint64_t record = 0; record < data_.records; record += stride) {
    const std::uint64_t place = rank(record);
    if (place >> (64 - kBucketBits) == bucket) {
      last.emplace_back(place, data_.place_of(record).bytes * stride);
    }
  }
  std::sort(last.begin(), last.end());
  for (const auto& [place, record_bytes] : last) {
    if (sum + record_bytes > bytes) return place;
    sum += record_bytes;
  }
  return last.empty() ? bucket << (64 - kBucketBits) : last.back().first + 1;
}

}  // namespace echoline::cache
