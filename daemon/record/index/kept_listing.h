// Stores the files of a folder or a list in the state folder. Looking up a million files takes
// seconds; checking their folders for changes does not.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "record/index/file_index.h"
#include "record/index/folder_state.h"

namespace echoline::record {

// The stored files, if all their folders are unchanged. A damaged file counts as none, with a log
// line.
std::optional<FileIndex> load_listing(const std::string& path);

// Stores files; `folders` are the states before the files were looked up. A failure is only logged,
// except with `must_keep`.
Status keep_listing(const std::string& path, const FileIndex& files, const FolderStates& folders,
                    bool must_keep);

}  // namespace echoline::record
