#include "record/index/sidecar_index.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/log.h"
#include "record/index/index_files.h"
#include "record/index/stored_index.h"

namespace echoline::record {
namespace {

std::string sidecar_address(std::string_view shard_url) {
  return std::string(shard_url) + std::string(kShardIndexSuffix);
}

// The sidecar files of the shards that exist.
IndexFiles list_sidecars(const std::vector<source::ObjectInfo>& shards, source::Source& source) {
  std::vector<std::string_view> urls;
  for (const source::ObjectInfo& shard : shards) urls.push_back(shard.url);
  const auto names = [](std::string_view url) { return std::vector{sidecar_address(url)}; };
  return list_index_files(urls, kShardIndexSuffix, names, source);
}

std::optional<ShardTable> table_of(const std::string& file, const source::ObjectInfo& shard,
                                   Result<StoredIndex> index) {
  if (!index.ok()) {
    log_warning("record", "{}: {}; reading the shard instead", file, index.status().message());
    return std::nullopt;
  }
  if (!is_index_of(*index, shard)) {
    log_warning("record", "{} was made for another version of the shard; reading the shard instead",
                file);
    return std::nullopt;
  }
  return ShardTable{std::move(index->shards[0]), std::move(index->records)};
}

std::vector<ShardRead> reads_of(const IndexFiles& files,
                                const std::vector<source::ObjectInfo>& shards,
                                const KnownTables& known) {
  std::vector<ShardRead> reads;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    // Known from the state folder or the journal.
    if (known[i]) continue;
    const auto file = files.find(sidecar_address(shards[i].url));
    if (file != files.end()) reads.push_back({i, file->second, 0, file->second.bytes});
  }
  return reads;
}

}  // namespace

bool have_sidecars(const std::vector<source::ObjectInfo>& shards, source::Source& source) {
  const IndexFiles files = list_sidecars(shards, source);
  return std::all_of(shards.begin(), shards.end(), [&files](const source::ObjectInfo& shard) {
    return files.contains(sidecar_address(shard.url));
  });
}

std::size_t take_sidecars(const std::vector<source::ObjectInfo>& shards, source::Source& source,
                          KnownTables& known) {
  std::vector<ShardRead> reads = reads_of(list_sidecars(shards, source), shards, known);
  std::size_t taken = 0;
  read_all(source, reads, [&](ShardRead& read) {
    // The file's own checksum finds damage, so one good answer is enough.
    Result<StoredIndex> index = read.status.ok() ? decode_index(read.buffer) : read.status;
    // Damaged on its way: it is requested again, a few times.
    if (read.status.ok() && !index.ok() && source.answers_needed() > 0 &&
        read.answers < source::kAnswersMax) {
      source.count_damaged();
      return false;
    }
    known[read.shard] = table_of(read.object.url, shards[read.shard], std::move(index));
    if (known[read.shard]) ++taken;
    return true;
  });
  return taken;
}

Result<std::uint64_t> publish_sidecars(const StoredIndex& index, source::Source& source) {
  for (const Shard& shard : index.shards) {
    RecordTable records;
    records.append(index.records, shard.first_record, shard.record_count);
    ECHOLINE_TRY(source.put(sidecar_address(shard.object.url), encode_shard_index(shard, records)));
  }
  return index.shards.size();
}

}  // namespace echoline::record
