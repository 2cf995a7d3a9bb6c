// A published listing has the name of a sidecar index of a shard named like the folder.
#include "record/index/folder_listing.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "base/log.h"
#include "echoline/v1/config.pb.h"
#include "record/core/local_file.h"
#include "record/index/index_path.h"
#include "record/index/kept_listing.h"
#include "record/index/listing.h"
#include "record/index/stored_index.h"
#include "source/core/glob.h"

namespace echoline::record {
namespace {

std::string listing_address(const std::string& root) {
  return root + std::string(kShardIndexSuffix);
}

// The folders of the read; empty if it has any other address or format.
std::vector<std::string> roots_of(const v1::Read& read) {
  // Other formats have no listings of folders.
  if (read.format() != "folder" && read.format() != "auto" && !read.format().empty()) return {};
  const auto addresses = addresses_of(read);
  if (!addresses.ok()) return {};
  std::vector<std::string> roots;
  for (const std::string& address : *addresses) {
    // A pattern or a single file is listed each time.
    if (!address.ends_with('/') || source::has_glob(address)) return {};
    roots.push_back(source::unescape_glob(address));
  }
  return roots;
}

std::string encode_root(const FileIndex& files, std::size_t root) {
  StoredIndex stored;
  files.store(root, stored);
  return encode_index(stored);
}

// The listing has a checksum of its own, so one good answer is enough.
Result<StoredIndex> read_listing(const source::ObjectInfo& object, source::Source& source) {
  const auto read_once = [&]() -> Result<StoredIndex> {
    ECHOLINE_ASSIGN(const source::Answer answer,
                    source::read_answer(source, object, 0, object.bytes));
    return decode_index(answer.bytes);
  };
  return read_parsed(source, read_once, DamageFoundBy::kChecksum);
}

// Adds the files of the listing published for a root; errors name it.
Status add_published(const std::string& root, source::Source& source, FileIndex& files) {
  const std::string address = listing_address(root);
  ECHOLINE_ASSIGN(const std::vector<source::ObjectInfo> found, source.list(escape_glob(address)));
  // Not published.
  if (found.size() != 1) return Status(Code::kNotFound, address);
  auto stored = read_listing(found[0], source);
  if (!stored.ok()) return std::move(stored).status().with_context(address);
  // Copied from another place, it would name files that are not here.
  if (stored->shards.size() != 1 || stored->shards[0].object.url != root) {
    return Status(Code::kFailedPrecondition, address + ": it was made for another place");
  }
  return files.restore(*stored, 0);
}

}  // namespace

FolderListing::FolderListing(const v1::Read& read, source::Source& source,
                             const std::string& state_dir)
    : source_(source), roots_(roots_of(read)) {
  const bool local = !roots_.empty() && local_path(roots_.front()).has_value();
  if (local && !state_dir.empty()) kept_ = stored_index_path(read, "folder", state_dir);
  // A local folder is never published, so without a state folder there is nothing to find.
  if (local && state_dir.empty()) roots_.clear();
}

bool FolderListing::is_known() const {
  if (roots_.empty()) return false;
  if (!kept_.empty()) return std::filesystem::exists(kept_);
  return source_.list(escape_glob(listing_address(roots_.front()))).ok();
}

std::optional<FolderFiles> FolderListing::find() const {
  if (roots_.empty()) return std::nullopt;
  if (kept_.empty()) return find_published();
  std::optional<FileIndex> files = load_listing(kept_);
  if (!files) return std::nullopt;
  return FolderFiles{std::move(*files), {kept_, {}}};
}

std::optional<FolderFiles> FolderListing::find_published() const {
  FolderFiles found;
  for (const std::string& root : roots_) {
    const Status status = add_published(root, source_, found.files);
    // One missing listing is enough to list everything again.
    if (status.code() == Code::kNotFound) return std::nullopt;
    if (!status.ok()) {
      log_warning("record", "{}; listing the folder instead", status.message());
      return std::nullopt;
    }
  }
  found.files.shrink();
  found.listing.published = listing_address(roots_.front());
  log_info("record", "using the listing published at {}", found.listing.published);
  return found;
}

void FolderListing::note_folder_states() {
  if (kept_.empty()) return;
  // Before the folders are looked at: a folder that changes during the look is then too new
  // (states_of).
  const std::int64_t now_ns = wall_clock_ns();
  std::set<std::string> all;
  for (const std::string& root : roots_) {
    auto folders = folders_below(*local_path(root));
    // A folder that cannot be read proves nothing.
    if (!folders) return;
    all.merge(*folders);
  }
  folders_ = states_of(all, now_ns);
}

Result<FolderFiles> FolderListing::keep(FileIndex files, bool must_keep) const {
  // States from before the listing: a change during it is noticed at the next start.
  if (folders_ && files.record_count() > 0) {
    ECHOLINE_TRY(keep_listing(kept_, files, *folders_, must_keep));
  }
  return FolderFiles{std::move(files), {kept_, {}}};
}

Result<std::uint64_t> publish_listing(const FileIndex& files, source::Source& source) {
  for (std::size_t i = 0; i < files.root_count(); ++i) {
    const std::string& root = files.root(i);
    if (local_path(root)) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{}: the listing of a local folder is not published: each host "
                                "keeps its own in its state_dir",
                                root));
    }
    ECHOLINE_TRY(source.put(listing_address(root), encode_root(files, i)));
  }
  return files.root_count();
}

}  // namespace echoline::record
