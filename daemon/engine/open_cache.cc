#include "engine/open_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "config/pipeline.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kPendingBytesMax = 32 << 20;

cache::DataSetSize data_set_size(const record::Index& index) {
  return {.records = index.record_count(),
          .bytes = index.record_bytes_total(),
          .place_of = [&index](std::uint64_t record) -> cache::RecordPlace {
            const record::Extent extent = index.extent(record);
            return {extent.shard, extent.offset, extent.bytes};
          }};
}

// Sizes of decoded samples are not known before they are decoded: all are taken to grow alike.
cache::DataSetSize decoded_size(const record::Index& index, std::uint64_t decoded_bytes) {
  const std::uint64_t encoded = std::max<std::uint64_t>(1, index.record_bytes_total());
  const double growth = static_cast<double>(decoded_bytes) *
                        static_cast<double>(index.record_count()) / static_cast<double>(encoded);
  const auto grown = [growth](std::uint64_t bytes) {
    return static_cast<std::uint64_t>(static_cast<double>(bytes) * growth);
  };
  cache::DataSetSize size = data_set_size(index);
  size.bytes = grown(size.bytes);
  size.place_of = [grown, encoded_place = size.place_of](std::uint64_t record) {
    cache::RecordPlace place = encoded_place(record);
    place.bytes = grown(place.bytes);
    return place;
  };
  return size;
}

// What is kept is found again by the address as it is written, at the endpoint as it is written.
std::string data_set_name(const v1::Read& read) {
  std::vector<std::string_view> words(read.url().begin(), read.url().end());
  words.push_back(read.endpoint());
  const cache::Place name = cache::hash_words(words);
  return fmt::format("{:016x}{:016x}", name.high, name.low);
}

std::function<cache::RecordKey(std::uint64_t)> key_function(const v1::Read& read,
                                                            const record::Index& index) {
  return [&index, endpoint = read.endpoint()](std::uint64_t record) {
    const record::Extent extent = index.extent(record);
    const source::ObjectInfo object = index.shard(extent.shard).object;
    return cache::make_key(fmt::format("{} {}", endpoint, object.url),
                           fmt::format("{} {}", object.bytes, object.version), extent.offset,
                           extent.bytes);
  };
}

// Of `records`, those whose bytes fit into `capacity`, at `overhead` each.
std::uint64_t overhead_bytes(const cache::DataSetSize& data, std::uint64_t capacity,
                             std::uint64_t overhead) {
  const double share =
      std::min(1.0, static_cast<double>(capacity) /
                        static_cast<double>(std::max<std::uint64_t>(1, data.bytes)));
  return static_cast<std::uint64_t>(share * static_cast<double>(data.records * overhead));
}

// One value always has a place, however large it is.
std::uint64_t pending_bytes(const cache::DataSetSize& data, const record::Index& index) {
  return std::max(std::min(kPendingBytesMax, data.bytes), index.record_bytes_max());
}

// One request may pass the bound.
std::uint64_t fill_bytes(const cache::DataSetSize& data, const record::Index& index) {
  return std::min(
      CacheThreads::kFillBytesMax + std::max(OrderBook::kRequestBytesMax, index.record_bytes_max()),
      data.bytes);
}

std::uint64_t memory_needed(const v1::Cache& cache, const cache::DataSetSize& data,
                            const record::Index& index) {
  std::uint64_t bytes = std::min<std::uint64_t>(cache.memory(), data.bytes);
  bytes += overhead_bytes(data, cache.memory(), cache::MemoryCache::kOverheadBytes);
  if (cache.has_disk()) {
    bytes += pending_bytes(data, index) +
             overhead_bytes(data, cache.disk().size(), cache::DiskCache::kOverheadBytes);
  }
  if (cache.fleet_size() > 0) bytes += fill_bytes(data, index);
  return bytes;
}

}  // namespace

Result<MemoryBudget::Reservation> open_cache(const v1::Stream& stream, std::uint64_t decoded_bytes,
                                             MemoryBudget& budget, StreamCore& core) {
  const v1::Cache* cache = config::cache_step(stream);
  if (cache == nullptr) return MemoryBudget::Reservation();
  const record::Index& index = core.data_set->index();
  const bool decoded = config::caches_decoded(stream);
  const cache::DataSetSize data =
      decoded ? decoded_size(index, decoded_bytes) : data_set_size(index);
  ECHOLINE_ASSIGN(
      MemoryBudget::Reservation memory,
      budget.reserve(memory_needed(*cache, data, index), "the cache of stream " + core.name));
  if (decoded) {
    core.samples = std::make_unique<batch::SampleCache>(data, cache->memory());
    core.preparer->set_sample_cache(core.samples.get());
    return memory;
  }
  const v1::Read& read = config::read_step(stream);
  ECHOLINE_ASSIGN(core.cache,
                  cache::Levels::open({.data = data,
                                       .memory_bytes = cache->memory(),
                                       .disk_path = cache->disk().path(),
                                       .disk_bytes = cache->disk().size(),
                                       .disk_set = data_set_name(read),
                                       .fleet = {cache->fleet().begin(), cache->fleet().end()},
                                       .pending_bytes_max = pending_bytes(data, index),
                                       .key_of = key_function(read, index)}));
  return memory;
}

std::uint64_t cache_memory_bytes(const StreamCore& core) {
  if (core.samples != nullptr) return core.samples->bytes();
  return core.cache == nullptr ? 0 : core.cache->memory_bytes();
}

std::vector<cache::LevelStats> cache_stats(const StreamCore& core) {
  if (core.cache != nullptr) return core.cache->stats();
  if (core.samples == nullptr) return {};
  cache::LevelStats stats;
  stats.level = "memory";
  stats.hits = core.samples->hits();
  stats.misses = core.samples->misses();
  stats.hit_bytes = core.samples->hit_bytes();
  stats.held_bytes = core.samples->bytes();
  return {stats};
}

}  // namespace echoline::engine
