// Stored indexes are trusted only after their checksums. A wrong match of a shard costs a scan,
// never a wrong record.
#include "record/index/shard_index.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/log.h"
#include "echoline/v1/config.pb.h"
#include "record/index/foreign_index.h"
#include "record/index/index_build.h"
#include "record/index/index_path.h"
#include "record/index/sidecar_index.h"

namespace echoline::record {
namespace {

// A missing file is normal at the first start; any other error is logged.
std::optional<StoredIndex> load_stored(const std::string& path) {
  auto stored = read_index_file(path);
  if (stored.ok()) return std::move(*stored);
  if (stored.status().code() != Code::kNotFound) {
    log_warning("record", "{}; the index is built again", stored.status().message());
  }
  return std::nullopt;
}

bool same_objects(const StoredIndex& stored, const std::vector<source::ObjectInfo>& shards) {
  // The order counts, too, because it decides the sample ids.
  return std::equal(stored.shards.begin(), stored.shards.end(), shards.begin(), shards.end(),
                    [](const Shard& a, const source::ObjectInfo& b) {
                      return a.object.url == b.url && a.object.bytes == b.bytes &&
                             a.object.version == b.version;
                    });
}

// Takes the shards of a stale index that have not changed; returns their number.
std::size_t take_unchanged(const StoredIndex& stored, const std::vector<source::ObjectInfo>& shards,
                           KnownTables& known) {
  std::unordered_map<std::string_view, const Shard*> by_url;
  for (const Shard& shard : stored.shards) by_url.emplace(shard.object.url, &shard);
  std::size_t taken = 0;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const auto found = by_url.find(shards[i].url);
    // A new shard.
    if (found == by_url.end()) continue;
    const Shard& shard = *found->second;
    if (shard.object.bytes != shards[i].bytes || shard.object.version != shards[i].version)
      continue;
    ShardTable& table = known[i].emplace();
    table.shard = shard;
    table.records.append(stored.records, shard.first_record, shard.record_count);
    ++taken;
  }
  return taken;
}

Result<StoredIndex> build(const OpenRequest& request, const std::vector<source::ObjectInfo>& shards,
                          KnownTables known, const ScanSpec& spec, IndexJournal& journal) {
  std::uint64_t missing = 0, bytes = 0;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (known[i]) continue;
    ++missing;
    bytes += shards[i].bytes;
  }
  if (missing > 0) {
    log_info("record", "indexing {} of {} shards, {:.1f} MB", missing, shards.size(),
             static_cast<double>(bytes) / 1e6);
  }
  return build_index(shards, std::move(known), spec, request.source,
                     scan_settings(request.read, shards, spec, request.options.checksums),
                     request.progress, journal);
}

// The shards without those of foreign indexes, which are read again at each start: they may be
// removed.
StoredIndex own_shards(const StoredIndex& index) {
  StoredIndex own;
  for (const Shard& shard : index.shards) {
    if (!shard.foreign_index.empty()) continue;
    own.shards.push_back(shard);
    own.shards.back().first_record = own.records.size();
    own.records.append(index.records, shard.first_record, shard.record_count);
  }
  return own;
}

// Takes what an interrupted pass has scanned.
void take_interrupted(const IndexJournal& journal, const std::vector<source::ObjectInfo>& shards,
                      KnownTables& known) {
  const std::size_t taken = take_unchanged(journal.load(), shards, known);
  if (taken > 0) {
    log_info("record", "an interrupted index pass had scanned {} of {} shards: it continues", taken,
             shards.size());
  }
}

}  // namespace

Result<StoredIndex> load_or_build_index(const OpenRequest& request,
                                        const std::vector<source::ObjectInfo>& shards,
                                        const ScanSpec& spec) {
  const std::string path = request.state_dir.empty()
                               ? ""
                               : stored_index_path(request.read, spec.name, request.state_dir);
  // Stored indexes and sidecars may lack checksums, so a pass over all shards is the only way.
  const bool rebuild = request.options.checksums == Checksums::kAll;
  KnownTables known(shards.size());
  std::optional<std::size_t> unchanged;
  // The state folder first: it needs no request.
  if (!path.empty() && !rebuild) {
    auto stored = load_stored(path);
    // Nothing has changed: no scan and no request.
    if (stored && same_objects(*stored, shards)) return std::move(*stored);
    if (stored) unchanged = take_unchanged(*stored, shards, known);
  }
  // A pass for checksums needs all records', which the journal of another pass may lack.
  IndexJournal journal(path.empty() || !rebuild ? path : path + ".checksums");
  take_interrupted(journal, shards, known);
  const std::size_t sidecars =
      rebuild || !spec.sidecars ? 0 : take_sidecars(shards, request.source, known);
  if (sidecars > 0) log_info("record", "using the index files next to {} shards", sidecars);
  // A new index for other hosts is made from the data alone.
  const bool for_others = rebuild || request.options.listings == Listings::kRefresh;
  const std::size_t sides =
      for_others ? 0 : take_foreign_indexes(shards, request.source, spec.foreign_index, known);
  if (sides > 0) log_info("record", "using index files of another program for {} shards", sides);
  if (unchanged && *unchanged + sides < shards.size()) {
    log_info("record", "the index of {} is stale: {} of {} shards are new or changed",
             request.read.url(0), shards.size() - *unchanged, shards.size());
  }
  ECHOLINE_ASSIGN(StoredIndex index, build(request, shards, std::move(known), spec, journal));
  log_info("record", "{} records in {} shards", index.records.size(), shards.size());
  if (path.empty()) {
    if (!request.options.must_keep) return index;
    return Status(Code::kFailedPrecondition, "there is no state folder to store the index in");
  }
  const Status status =
      sides > 0 ? write_index_file(path, own_shards(index)) : write_index_file(path, index);
  // The whole index has what the journal had.
  if (status.ok()) journal.remove();
  if (!status.ok() && request.options.must_keep) {
    return Status(status).with_context("the index is not stored");
  }
  if (!status.ok()) log_warning("record", "the index is not stored: {}", status.message());
  return index;
}

}  // namespace echoline::record
