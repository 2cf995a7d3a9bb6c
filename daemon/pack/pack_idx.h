// Input from IDX files, plain or gzip-compressed.
#pragma once

#include <memory>

#include "base/status.h"
#include "pack/pack_input.h"
#include "pack/pack_options.h"

namespace echoline::cli {

Result<std::unique_ptr<PackInput>> open_idx_input(const PackOptions& options);

}  // namespace echoline::cli
