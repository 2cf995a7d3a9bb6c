// Replaces files atomically.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace echoline {

// At any time, also after a crash, the file has its old or its new content. Creates missing
// folders.
Status write_file_atomically(const std::string& path, std::string_view content);
// Makes the creation and removal of files in the folder durable.
Status sync_folder(const std::string& path);

}  // namespace echoline
