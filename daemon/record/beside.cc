// One listing a folder finds them, however many shards there are.
#include "record/beside.h"

#include <fmt/core.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/log.h"
#include "record/listing.h"
#include "record/local_file.h"
#include "record/stored_index.h"
#include "record/table_index.h"

namespace echoline::record {
namespace {

// Index files beside the shards, by address.
std::map<std::string, source::ObjectInfo> list_beside(const std::vector<source::ObjectInfo>& shards,
                                                      source::Source& source) {
  std::map<std::string, source::ObjectInfo> found;
  std::set<std::string> folders;
  for (const auto& shard : shards) {
    folders.insert(escape_glob(shard.url.substr(0, shard.url.rfind('/') + 1)));
  }
  for (const std::string& folder : folders) {
    auto objects = source.list(fmt::format("{}*{}", folder, kShardIndexSuffix));
    if (!objects.ok()) continue;  // none there, or a store that cannot list
    for (source::ObjectInfo& object : *objects) found.emplace(object.url, object);
  }
  return found;
}

std::optional<ShardTable> read_beside(const source::ObjectInfo& file,
                                      const source::ObjectInfo& shard, source::Source& source) {
  const auto bytes = read_bytes(source, file, 0, file.bytes);
  Result<StoredIndex> index = bytes.ok() ? decode_index(*bytes) : bytes.status();
  if (!index.ok()) {
    log_warning("record", "{}: {}; reading the shard instead", file.url, index.status().message());
    return std::nullopt;
  }
  if (index->shards.size() != 1 || index->shards[0].object.bytes != shard.bytes) {
    log_warning("record", "{} was made for another version of the shard; reading the shard instead",
                file.url);
    return std::nullopt;
  }
  return ShardTable{std::move(index->records), index->shards[0].unpacked_bytes};
}

}  // namespace

std::size_t take_beside(const std::vector<source::ObjectInfo>& shards, source::Source& source,
                        KnownTables& known) {
  const auto files = list_beside(shards, source);
  if (files.empty()) return 0;
  std::size_t taken = 0;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (known[i]) continue;
    const auto file = files.find(shards[i].url + std::string(kShardIndexSuffix));
    if (file == files.end()) continue;
    known[i] = read_beside(file->second, shards[i], source);
    if (known[i]) ++taken;
  }
  return taken;
}

Result<std::uint64_t> publish_index(const DataSet& data_set) {
  const auto* set = dynamic_cast<const TableDataSet*>(&data_set);
  if (set == nullptr) {
    return Status(Code::kInvalidArgument,
                  fmt::format("format {} needs no index file: it is read from "
                              "the data itself",
                              data_set.format()));
  }
  std::uint64_t written = 0;
  for (const Shard& shard : data_set.index().shards()) {
    const auto path = local_path(shard.object.url);
    if (!path) {
      return Status(
          Code::kUnimplemented,
          fmt::format("an index can be published beside local files only, not at {}: index a local "
                      "copy of the shards with --publish and upload the {} files with them",
                      shard.object.url, kShardIndexSuffix));
    }
    ECHOLINE_TRY(
        write_shard_index(*path, shard.object.bytes, set->table_of(written), shard.unpacked_bytes));
    ++written;
  }
  return written;
}

}  // namespace echoline::record
