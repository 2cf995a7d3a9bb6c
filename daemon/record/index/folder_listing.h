// The listing of a folder data set that an earlier start stored or a host published, so that
// folders need not be listed again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "record/index/file_index.h"
#include "record/index/folder_state.h"
#include "record/index/listed_source.h"

namespace echoline::record {

struct FolderFiles {
  FileIndex files;
  StoredListing listing;
};

// For one opening of a data set; one thread. The state folder keeps listings of local folders,
// which are valid until a folder changes. Folders in a store have a published listing, valid until
// it is published again.
class FolderListing {
 public:
  // For a read of another format every method does nothing.
  FolderListing(const v1::Read& read, source::Source& source, const std::string& state_dir);

  // Whether there is a listing for `find`; it may still be invalid.
  bool is_known() const;
  // Nothing if there is no listing, or if it is no longer valid.
  std::optional<FolderFiles> find() const;

  // Call it before the files are listed. Without it `keep` stores nothing.
  void note_folder_states();
  // Stores a new listing for the next start, if that is possible. `must_keep`: a failure is an
  // error, not a log line.
  Result<FolderFiles> keep(FileIndex files, bool must_keep) const;

 private:
  // The listings that were published in all roots; nothing if one lacks.
  std::optional<FolderFiles> find_published() const;

  source::Source& source_;
  std::vector<std::string> roots_;  // empty: listings are not used
  std::string kept_;                // path in the state folder; empty for folders in a store
  std::optional<FolderStates> folders_;
};

// Publishes the listing of each root, below that root. Returns the number of files written.
// kInvalidArgument for local folders.
Result<std::uint64_t> publish_listing(const FileIndex& files, source::Source& source);

}  // namespace echoline::record
