// Input from IDX files, plain or gzip-compressed.
#pragma once

#include <memory>

#include "pack/pack_input.h"

namespace echoline::cli {

Result<std::unique_ptr<PackInput>> open_idx(const PackOptions& options);

}  // namespace echoline::cli
