// Files that are written as a whole.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace echoline {

// The file has its old content or the new one, also after a crash. Makes missing folders.
Status write_file_atomically(const std::string& path, std::string_view content);
// Files that were made in it and removed from it before stay so after a crash.
Status sync_folder(const std::string& path);

}  // namespace echoline
