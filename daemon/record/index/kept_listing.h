// The files of a folder or a list, kept in the state folder of this machine: asking for a million
// of them takes seconds, asking their folders whether a name has changed does not.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "record/index/file_index.h"
#include "record/index/folder_state.h"

namespace echoline::record {

// The files that are kept there, if all folders they lie in are as they were. A damaged file is
// none, with a log line.
std::optional<FileIndex> load_listing(const std::string& path);

// Keeps files whose folders had these states before they were asked for. A failure is a log line.
void keep_listing(const std::string& path, const FileIndex& files, const FolderStates& folders);

}  // namespace echoline::record
