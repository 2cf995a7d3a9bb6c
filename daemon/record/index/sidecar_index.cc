// One listing per folder finds the files, however many shards there are. They are read in parallel.
#include "record/index/sidecar_index.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "base/log.h"
#include "record/index/listing.h"
#include "record/index/stored_index.h"

namespace echoline::record {
namespace {

// Bound on the index files in flight, unless a single one is larger.
constexpr std::uint64_t kInFlightBytesMax = 64 << 20;

using Files = std::map<std::string, source::ObjectInfo>;  // by address

std::string sidecar_address(const source::ObjectInfo& shard) {
  return shard.url + std::string(kShardIndexSuffix);
}

// For a web server, which cannot list: one file for every shard, or none.
std::vector<source::ObjectInfo> ask_for_each(const std::vector<std::string>& addresses,
                                             source::Source& source) {
  if (!source.list(addresses.front()).ok())
    return {};  // no file for the first shard: do not ask for the others
  auto objects = source.list_all(addresses);
  return objects.ok() ? std::move(*objects) : std::vector<source::ObjectInfo>();
}

// The sidecar files of the shards that exist.
Files list_sidecars(const std::vector<source::ObjectInfo>& shards, source::Source& source) {
  std::map<std::string, std::vector<std::string>> folders;
  // One listing for each folder.
  for (const auto& shard : shards) {
    folders[shard.url.substr(0, shard.url.rfind('/') + 1)].push_back(
        escape_glob(sidecar_address(shard)));
  }
  Files found;
  for (const auto& [folder, addresses] : folders) {
    auto objects = source.list(fmt::format("{}*{}", escape_glob(folder), kShardIndexSuffix));
    // No sidecar files in this folder.
    if (objects.status().code() == Code::kNotFound) continue;
    // A web server cannot list.
    if (!objects.ok()) objects = ask_for_each(addresses, source);
    for (source::ObjectInfo& object : *objects) found.emplace(object.url, object);
  }
  return found;
}

// One sidecar file in flight.
struct SidecarRead {
  std::size_t shard = 0;
  source::ObjectInfo file;
  std::vector<std::byte> bytes;
  std::uint32_t answers = 0;
};

// The file's own checksum finds damage, so one good answer is enough.
Result<StoredIndex> decoded(const SidecarRead& read, const Status& status) {
  return status.ok() ? decode_index(read.bytes) : status;
}

std::optional<ShardTable> table_of(const SidecarRead& read, const source::ObjectInfo& shard,
                                   Result<StoredIndex> index) {
  if (!index.ok()) {
    log_warning("record", "{}: {}; reading the shard instead", read.file.url,
                index.status().message());
    return std::nullopt;
  }
  if (!is_index_of(*index, shard)) {
    log_warning("record", "{} was made for another version of the shard; reading the shard instead",
                read.file.url);
    return std::nullopt;
  }
  return ShardTable{std::move(index->shards[0]), std::move(index->records)};
}

std::vector<SidecarRead> reads_of(const Files& files, const std::vector<source::ObjectInfo>& shards,
                                  const KnownTables& known) {
  std::vector<SidecarRead> reads;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    // Known from the state folder or the journal.
    if (known[i]) continue;
    const auto file = files.find(sidecar_address(shards[i]));
    if (file != files.end()) reads.push_back({i, file->second, {}});
  }
  return reads;
}

}  // namespace

bool have_sidecars(const std::vector<source::ObjectInfo>& shards, source::Source& source) {
  const Files files = list_sidecars(shards, source);
  return std::all_of(shards.begin(), shards.end(), [&files](const source::ObjectInfo& shard) {
    return files.contains(sidecar_address(shard));
  });
}

std::size_t take_sidecars(const std::vector<source::ObjectInfo>& shards, source::Source& source,
                          KnownTables& known) {
  std::vector<SidecarRead> reads = reads_of(list_sidecars(shards, source), shards, known);
  std::deque<std::size_t> waiting(reads.size());
  std::iota(waiting.begin(), waiting.end(), std::size_t{0});
  std::vector<source::ReadResult> done;
  std::size_t taken = 0;
  std::uint64_t in_flight = 0;
  // Every read that starts is waited for: they write into `reads`.
  for (std::size_t left = reads.size(); left > 0;) {
    // One file may exceed the bound, else it could never be read.
    while (!waiting.empty() && source.slots_free() > 0 &&
           (in_flight == 0 || in_flight + reads[waiting.front()].file.bytes <= kInFlightBytesMax)) {
      SidecarRead& read = reads[waiting.front()];
      read.bytes.resize(read.file.bytes);
      in_flight += read.bytes.size();
      source.submit({waiting.front(), read.file, {{0, read.bytes}}});
      waiting.pop_front();
    }
    done.clear();
    source.poll(UINT64_MAX, done);
    for (const source::ReadResult& result : done) {
      SidecarRead& read = reads[result.tag];
      in_flight -= read.bytes.size();
      Result<StoredIndex> index = decoded(read, result.status);
      // Damaged on its way: it is requested again, a few times.
      if (result.status.ok() && !index.ok() && source.answers_needed() > 0 &&
          ++read.answers < source::kAnswersMax) {
        source.count_damaged();
        waiting.push_back(result.tag);
        continue;
      }
      known[read.shard] = table_of(read, shards[read.shard], std::move(index));
      if (known[read.shard]) ++taken;
      // Frees the buffer, because `reads` lives until the end.
      read.bytes = {};
      --left;
    }
  }
  return taken;
}

Result<std::uint64_t> publish_sidecars(const StoredIndex& index, source::Source& source) {
  for (const Shard& shard : index.shards) {
    RecordTable records;
    records.append(index.records, shard.first_record, shard.record_count);
    ECHOLINE_TRY(source.put(sidecar_address(shard.object), encode_shard_index(shard, records)));
  }
  return index.shards.size();
}

}  // namespace echoline::record
