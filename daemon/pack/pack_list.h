// Input from a CSV list of files and labels.
#pragma once

#include <memory>

#include "pack/pack_input.h"

namespace echoline::cli {

Result<std::unique_ptr<PackInput>> open_list(const PackOptions& options);

}  // namespace echoline::cli
