// Input from a CSV list of files and labels.
#pragma once

#include <memory>

#include "base/status.h"
#include "pack/pack_input.h"
#include "pack/pack_options.h"

namespace echoline::cli {

Result<std::unique_ptr<PackInput>> open_list_input(const PackOptions& options);

}  // namespace echoline::cli
