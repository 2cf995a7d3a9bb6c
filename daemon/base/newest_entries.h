// Bounds the number of files or folders in a folder of kept state.
#pragma once

#include <cstddef>
#include <string>

namespace echoline {

// Removes the entries that were written longest ago, with all that is in them, until `most` are
// left. Temporary files of writes that were cut off count, too. Errors are ignored: the next call
// tries again.
void keep_newest_entries(const std::string& folder, std::size_t most);

// Makes an entry the newest one, if it exists.
void touch_entry(const std::string& path);

}  // namespace echoline
