// How the files of a folder data set become known: by a listing of an earlier time where one
// stands, else by listing them.
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

// One start's. Of local folders a listing is kept in the state folder and stands until a folder
// changes; of folders in a store the one that was published stands until the next one is. One
// thread.
class FolderListing {
 public:
  // Of a read of another format all below does nothing.
  FolderListing(const v1::Read& read, source::Source& source, const std::string& state_dir);

  // Whether `find` has something to look at.
  bool is_known() const;
  std::optional<FolderFiles> find() const;

  // Call it before the files are listed. Without it `keep` stores nothing.
  void note_folder_states();
  // Stores a new listing for the next start, if that is possible.
  FolderFiles keep(FileIndex files) const;

 private:
  std::optional<FolderFiles> find_published() const;

  source::Source& source_;
  std::vector<std::string> roots_;
  std::string kept_;  // the file in the state folder; empty without one
  std::optional<FolderStates> folders_;
};

// Writes the listing of each root below it; the number written. Local folders are kInvalidArgument.
Result<std::uint64_t> publish_listing(const FileIndex& files, source::Source& source);

}  // namespace echoline::record
