// Whether folders of this machine hold the names that they held when they were listed.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "source/core/source.h"

namespace echoline::record {

// Folders by their paths; the version is which folder it is and the time of its last change, the
// one that no program can set (ctime): it moves with every name that comes, goes or is renamed.
using FolderStates = std::vector<source::ObjectInfo>;

// The states of these folders. Nothing where they would prove nothing: a folder changed less than
// two seconds before `now_ns` (of the wall clock), so that the next change might bear the same
// time; or it lies on a file system that is not known to stamp its folders, as those that show an
// object store. Taken before a listing, states that are still the same vouch for it.
std::optional<FolderStates> states_of(const std::set<std::string>& folders, std::int64_t now_ns);

// All folders at and below this one, through links as well; nothing if one cannot be read, too.
std::optional<std::set<std::string>> folders_below(const std::string& folder);

bool are_unchanged(const FolderStates& states);

std::int64_t wall_clock_ns();

}  // namespace echoline::record
