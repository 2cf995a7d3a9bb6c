#include "engine/open/open_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "config/pipeline.h"
#include "engine/open/probe.h"

namespace echoline::engine {
namespace {

// Values that wait for the disk. While it is full, further values are not written.
constexpr std::uint64_t kPendingBytesMax = 32 << 20;

cache::DataSetSize data_set_size(const record::Index& index) {
  return {.records = index.record_count(),
          .bytes = index.record_bytes_total(),
          // The index lives in the data set, which the stream core keeps for as long as the caches.
          .place_of = [&index](std::uint64_t record) -> cache::RecordPlace {
            const record::Extent extent = index.extent(record);
            return {extent.shard, extent.offset, extent.bytes};
          }};
}

// The sizes of decoded samples are not known before they are decoded: all count the same.
cache::DataSetSize decoded_size(const record::Index& index, std::uint64_t sample_bytes) {
  cache::DataSetSize size = data_set_size(index);
  size.bytes = size.records * sample_bytes;
  size.place_of = [sample_bytes, encoded_place = size.place_of](std::uint64_t record) {
    cache::RecordPlace place = encoded_place(record);
    place.bytes = sample_bytes;
    return place;
  };
  return size;
}

// What else decides the bytes of a record at a place of an object: the columns that were chosen of
// Parquet files, and how rows are gathered from documents. No words for all other data.
std::vector<std::string> place_words(const v1::Read& read, const std::string& metadata) {
  std::vector<std::string> words;
  const auto& columns = read.parquet().columns();
  if (!columns.empty()) words.emplace_back("read.parquet.columns");
  words.insert(words.end(), columns.begin(), columns.end());
  if (read.pack().method() == "best_fit") {
    words.insert(words.end(), {"read.pack", metadata});
  }
  return words;
}

std::string hash_text(const std::vector<std::string_view>& words) {
  const cache::Hash128 hash = cache::hash_words(words);
  return fmt::format("{:016x}{:016x}", hash.high, hash.low);
}

// Kept records are found again by the address and the endpoint exactly as they are written.
std::string source_name(const v1::Read& read, const std::vector<std::string>& more) {
  std::vector<std::string_view> words(read.url().begin(), read.url().end());
  words.push_back(read.endpoint());
  words.insert(words.end(), more.begin(), more.end());
  return hash_text(words);
}

// The sources of a stream, and the words of each.
struct Places {
  std::vector<const v1::Read*> reads;
  std::vector<std::vector<std::string>> words;
};

Places places_of(const v1::Stream& stream, const OpenedData& data) {
  Places places{.reads = config::reads_of(stream), .words = {}};
  for (std::size_t source = 0; source < places.reads.size(); ++source) {
    places.words.push_back(place_words(*places.reads[source], data.metadata[source]));
  }
  return places;
}

// The order of a mixture's sources does not matter.
std::string data_set_name(const Places& places) {
  std::vector<std::string> names;
  for (std::size_t source = 0; source < places.reads.size(); ++source) {
    names.push_back(source_name(*places.reads[source], places.words[source]));
  }
  if (names.size() == 1) return names.front();
  std::ranges::sort(names);
  std::vector<std::string_view> words{"mix"};
  words.insert(words.end(), names.begin(), names.end());
  return hash_text(words);
}

// The same keys as in a stream that reads this source alone.
std::function<cache::RecordKey(std::uint64_t)> key_function(const Places& places,
                                                            const record::DataSet& data_set) {
  std::vector<std::string> sources;
  for (std::size_t source = 0; source < places.reads.size(); ++source) {
    std::string& text = sources.emplace_back(places.reads[source]->endpoint());
    const std::vector<std::string>& more = places.words[source];
    if (!more.empty()) text += " " + hash_text({more.begin(), more.end()});
  }
  // Size and version are part of the key: a changed object has other keys, so old bytes are not
  // found.
  return [&data_set, sources = std::move(sources)](std::uint64_t record) {
    const record::Index& index = data_set.index();
    const record::Extent extent = index.extent(record);
    const source::ObjectInfo object = index.shard(extent.shard).object;
    const std::string& source = sources[data_set.part_of(record)];
    return cache::make_key(fmt::format("{} {}", source, object.url),
                           fmt::format("{} {}", object.bytes, object.version), extent.offset,
                           extent.bytes);
  };
}

// The overhead of the records whose bytes fit into `capacity`.
std::uint64_t overhead_bytes(const cache::DataSetSize& data, std::uint64_t capacity,
                             std::uint64_t overhead) {
  // At least one byte: a data set without bytes has a share, too.
  const double share =
      std::min(1.0, static_cast<double>(capacity) /
                        static_cast<double>(std::max<std::uint64_t>(1, data.bytes)));
  return static_cast<std::uint64_t>(share * static_cast<double>(data.records * overhead));
}

// There is room for one value of any size.
std::uint64_t pending_bytes(const cache::DataSetSize& data, const record::Index& index) {
  return std::max(std::min(kPendingBytesMax, data.bytes), index.record_bytes_max());
}

// One request of each source may go over the bound.
std::uint64_t fill_bytes(const cache::DataSetSize& data, const record::Index& index,
                         std::size_t sources) {
  const std::uint64_t request =
      std::max(RequestCoalescer::kRequestBytesMax, index.record_bytes_max());
  return std::min(CacheThreads::kFillBytesMax + sources * request, data.bytes);
}

// The bytes of all values in memory, at most.
std::uint64_t value_bytes(const v1::Cache& cache, const cache::DataSetSize& data) {
  return std::min<std::uint64_t>(cache.memory(), data.bytes);
}

std::uint64_t memory_needed(const v1::Cache& cache, const cache::DataSetSize& data,
                            const record::Index& index, std::size_t sources) {
  // The values and the tables that find them; both are part of daemon.memory.
  std::uint64_t bytes = value_bytes(cache, data);
  bytes += overhead_bytes(data, cache.memory(), cache::MemoryCache::kOverheadBytes);
  if (cache.has_disk()) {
    bytes += pending_bytes(data, index) +
             overhead_bytes(data, cache.disk().size(), cache::DiskCache::kOverheadBytes);
  }
  // Bytes on their way to the fleet are buffers of their own.
  if (cache.fleet_size() > 0) bytes += fill_bytes(data, index, sources);
  return bytes;
}

}  // namespace

Result<OpenedCache> open_cache(const std::string& name, const v1::Stream& stream,
                               const OpenedData& opened_data, const batch::Preparer& preparer,
                               MemoryBudget& budget) {
  OpenedCache opened;
  const v1::Cache* cache = config::cache_step(stream);
  if (cache == nullptr) return opened;
  const record::DataSet& data_set = *opened_data.data_set;
  const record::Index& index = data_set.index();
  const bool decoded = config::caches_decoded(stream);
  cache::DataSetSize data = data_set_size(index);
  if (decoded) {
    ECHOLINE_ASSIGN(const std::uint64_t sample_bytes, probe_kept_bytes(opened_data, preparer));
    data = decoded_size(index, sample_bytes);
  }
  // Reserved before the cache is opened: a cache that does not fit must not touch the disk.
  ECHOLINE_ASSIGN(opened.memory,
                  budget.reserve(memory_needed(*cache, data, index, opened_data.sources.size()),
                                 "the cache of stream " + name));
  // Decoded samples are kept in memory only.
  if (decoded) {
    // Samples that are larger than those looked at are kept as far as the reservation goes.
    opened.samples = std::make_unique<batch::SampleCache>(data, value_bytes(*cache, data));
    return opened;
  }
  const Places places = places_of(stream, opened_data);
  ECHOLINE_ASSIGN(opened.levels,
                  cache::Levels::open({.data = data,
                                       .memory_bytes = cache->memory(),
                                       .disk_path = cache->disk().path(),
                                       .disk_bytes = cache->disk().size(),
                                       .disk_set = data_set_name(places),
                                       .fleet = {cache->fleet().begin(), cache->fleet().end()},
                                       .pending_bytes_max = pending_bytes(data, index),
                                       .key_of = key_function(places, data_set)}));
  return opened;
}

std::uint64_t cache_memory_bytes(const StreamCore& core) {
  if (core.samples != nullptr) return core.samples->bytes();
  return core.cache == nullptr ? 0 : core.cache->memory_bytes();
}

std::vector<cache::LevelStats> cache_stats(const StreamCore& core) {
  if (core.cache != nullptr) return core.cache->stats();
  // No cache of encoded records, so this is the one of decoded samples, if any.
  if (core.samples == nullptr) return {};
  cache::LevelStats stats;
  stats.level = "memory";
  stats.hits = core.samples->hits();
  stats.misses = core.samples->misses();
  stats.hit_bytes = core.samples->hit_bytes();
  stats.saved_ns = core.samples->saved_ns();
  stats.held_bytes = core.samples->bytes();
  return {stats};
}

}  // namespace echoline::engine
