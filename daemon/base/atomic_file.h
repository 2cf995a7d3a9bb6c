// Replaces files atomically.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/status.h"

namespace echoline {

// At any time, also after a crash, the file has its old or its new content. Creates missing
// folders. `mode` is that of the file.
Status write_file_atomically(const std::string& path, std::string_view content, mode_t mode = 0644);
// Makes the creation and removal of files in the folder durable.
Status sync_folder(const std::string& path);

}  // namespace echoline
