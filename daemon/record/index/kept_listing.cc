// The file has the form of a shard index. A root is a shard without version, with its files as
// records. A folder is a shard with version and without records.
#include "record/index/kept_listing.h"

#include "base/log.h"
#include "record/index/stored_index.h"

namespace echoline::record {
namespace {

bool is_folder(const Shard& shard) { return !shard.object.version.empty(); }

FolderStates folders_of(const StoredIndex& stored) {
  FolderStates folders;
  for (const Shard& shard : stored.shards) {
    if (is_folder(shard)) folders.push_back(shard.object);
  }
  return folders;
}

Result<FileIndex> files_of(const StoredIndex& stored) {
  FileIndex files;
  for (std::size_t i = 0; i < stored.shards.size(); ++i) {
    if (!is_folder(stored.shards[i])) ECHOLINE_TRY(files.restore(stored, i));
  }
  files.shrink();
  return files;
}

}  // namespace

std::optional<FileIndex> load_listing(const std::string& path) {
  const Result<StoredIndex> stored = read_index_file(path);
  // Nothing was stored yet.
  if (stored.status().code() == Code::kNotFound) return std::nullopt;
  if (stored.ok() && !are_unchanged(folders_of(*stored))) {
    log_info("record", "folders have changed since their files were listed: listing them again");
    return std::nullopt;
  }
  // Two kinds of damage: the file itself, and entries that are no files.
  Result<FileIndex> files = stored.ok() ? files_of(*stored) : stored.status();
  if (files.ok()) return std::move(*files);
  log_warning("record", "{}; listing the files again", files.status().message());
  return std::nullopt;
}

Status keep_listing(const std::string& path, const FileIndex& files, const FolderStates& folders,
                    bool must_keep) {
  StoredIndex stored;
  for (std::size_t i = 0; i < files.root_count(); ++i) files.store(i, stored);
  for (const source::ObjectInfo& folder : folders) {
    // Folders follow the roots and have no records.
    stored.shards.push_back({folder, stored.records.size(), 0, 0});
  }
  const Status status = write_index_file(path, stored);
  if (status.ok()) return {};
  if (must_keep) return Status(status).with_context("the listing is not stored");
  log_warning("record", "the listing is not stored: {}", status.message());
  return {};
}

}  // namespace echoline::record
