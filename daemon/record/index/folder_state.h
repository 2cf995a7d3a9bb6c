// Detects whether local folders still contain the names that they contained when they were listed.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "source/core/source.h"

namespace echoline::record {

// One entry per folder: its path, and as version its device, inode and ctime. Programs cannot set
// the ctime, and it changes with every name that is added, removed or renamed.
using FolderStates = std::vector<source::ObjectInfo>;

// The states of these folders. Nothing if they prove nothing: a folder changed less than two
// seconds before `now_ns` (wall clock), so that the next change could have the same timestamp; or
// it is on a file system that may not update timestamps of folders, such as a mounted object store.
// States taken before a listing that are still equal later prove that the listing is still valid.
std::optional<FolderStates> states_of(const std::set<std::string>& folders, std::int64_t now_ns);

// This folder and all below it, also through links. Nothing if one of them cannot be read.
std::optional<std::set<std::string>> folders_below(const std::string& folder);

bool are_unchanged(const FolderStates& states);

std::int64_t wall_clock_ns();

}  // namespace echoline::record
