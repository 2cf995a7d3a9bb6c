// Nothing here is trusted but checksums: a wrong guess costs a pass over the shard, never a wrong
// record.
#include "record/shard_index.h"

#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/log.h"
#include "echoline/v1/config.pb.h"
#include "record/listing.h"
#include "record/local_file.h"
#include "record/tar_build.h"
#include "record/webdataset.h"

namespace echoline::record {
namespace {

// Tables of single shards, by their place; empty where nothing fits.
using KnownTables = std::vector<std::optional<RecordTable>>;

// A missing file is the normal first start; anything else is worth a line.
std::optional<StoredIndex> load_stored(const std::string& path) {
  auto stored = read_index_file(path);
  if (stored.ok()) return std::move(*stored);
  if (stored.status().code() != Code::kNotFound) {
    log_warning("record", "{}; the index is built again", stored.status().message());
  }
  return std::nullopt;
}

bool same_objects(const StoredIndex& stored, const std::vector<source::ObjectInfo>& shards) {
  return std::equal(stored.shards.begin(), stored.shards.end(), shards.begin(), shards.end(),
                    [](const Shard& a, const source::ObjectInfo& b) {
                      return a.object.url == b.url && a.object.bytes == b.bytes &&
                             a.object.version == b.version;
                    });
}

// Shards of a stale index that are still what they were.
std::size_t take_unchanged(const StoredIndex& stored, const std::vector<source::ObjectInfo>& shards,
                           KnownTables& known) {
  std::unordered_map<std::string_view, const Shard*> by_url;
  for (const Shard& shard : stored.shards) by_url.emplace(shard.object.url, &shard);
  std::size_t taken = 0;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const auto found = by_url.find(shards[i].url);
    if (found == by_url.end()) continue;
    const Shard& shard = *found->second;
    if (shard.object.bytes != shards[i].bytes || shard.object.version != shards[i].version)
      continue;
    known[i].emplace().append(stored.records, shard.first_record, shard.record_count);
    ++taken;
  }
  return taken;
}

// The folder of an object as an address: a glob character in a name stands for itself.
std::string folder_of(const std::string& url) {
  std::string folder;
  for (const char c : url.substr(0, url.rfind('/') + 1)) {
    if (c == '*' || c == '?' || c == '[' || c == '\\') folder += '\\';
    folder += c;
  }
  return folder;
}

// Index files beside the shards, by address: one listing a folder, however many shards it has.
std::map<std::string, source::ObjectInfo> list_beside(const std::vector<source::ObjectInfo>& shards,
                                                      source::Source& source) {
  std::map<std::string, source::ObjectInfo> found;
  std::map<std::string, bool> folders;
  for (const auto& shard : shards) folders.emplace(folder_of(shard.url), true);
  for (const auto& [folder, unused] : folders) {
    auto objects = source.list(fmt::format("{}*{}", folder, kShardIndexSuffix));
    if (!objects.ok()) continue;  // none there, or a store that cannot list
    for (source::ObjectInfo& object : *objects) found.emplace(object.url, object);
  }
  return found;
}

std::optional<RecordTable> read_beside(const source::ObjectInfo& file,
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
  return std::move(index->records);
}

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

// Addresses are hashed with their lengths: ["ab", "c"] and ["a", "bc"] are two data sets.
std::string describe(const v1::Read& read) {
  std::string text = fmt::format("webdataset 1;{};", read.endpoint());
  for (const std::string& url : read.url()) text += fmt::format("{}:{};", url.size(), url);
  return text;
}

Result<StoredIndex> build(const v1::Read& read, const std::vector<source::ObjectInfo>& shards,
                          const KnownTables& known, source::Source& source,
                          const ProgressFunction& progress) {
  std::vector<const RecordTable*> tables(shards.size(), nullptr);
  std::uint64_t missing = 0, bytes = 0;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (known[i]) {
      tables[i] = &*known[i];
      continue;
    }
    ++missing;
    bytes += shards[i].bytes;
  }
  if (missing > 0) {
    log_info("record", "indexing {} of {} shards, {:.1f} MB", missing, shards.size(),
             static_cast<double>(bytes) / 1e6);
  }
  return build_tar_index(shards, std::move(tables), source, scan_settings(read, shards), progress);
}

}  // namespace

std::string stored_index_path(const v1::Read& read, const std::string& state_dir) {
  const std::string text = describe(read);
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{}/indexes/{:016x}{:016x}.idx", state_dir, hash.high64, hash.low64);
}

Result<StoredIndex> load_or_build_index(const v1::Read& read,
                                        const std::vector<source::ObjectInfo>& shards,
                                        source::Source& source, const std::string& state_dir,
                                        const ProgressFunction& progress) {
  const std::string path = state_dir.empty() ? "" : stored_index_path(read, state_dir);
  KnownTables known(shards.size());
  if (!path.empty()) {
    auto stored = load_stored(path);
    if (stored && same_objects(*stored, shards)) return std::move(*stored);
    if (stored) {
      const std::size_t unchanged = take_unchanged(*stored, shards, known);
      log_info("record", "the index of {} is stale: {} of {} shards are new or changed",
               read.url(0), shards.size() - unchanged, shards.size());
    }
  }
  const std::size_t beside = take_beside(shards, source, known);
  if (beside > 0) log_info("record", "using the index files beside {} shards", beside);
  ECHOLINE_ASSIGN(StoredIndex index, build(read, shards, known, source, progress));
  log_info("record", "{} records in {} shards", index.records.size(), shards.size());
  if (path.empty()) return index;
  if (const Status status = write_index_file(path, index); !status.ok()) {
    log_warning("record", "the index is not stored: {}", status.message());
  }
  return index;
}

Result<std::uint64_t> publish_index(const DataSet& data_set) {
  const auto* tars = dynamic_cast<const WebDataset*>(&data_set);
  if (tars == nullptr) {
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
    ECHOLINE_TRY(write_shard_index(*path, shard.object.bytes, tars->shard_table(written)));
    ++written;
  }
  return written;
}

}  // namespace echoline::record
