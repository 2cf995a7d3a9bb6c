// Opens the input that `echoline pack` names.
#pragma once

#include <memory>

#include "base/status.h"
#include "pack/pack_input.h"
#include "pack/pack_options.h"

namespace echoline::cli {

Result<std::unique_ptr<PackInput>> open_input(const PackOptions& options);

}  // namespace echoline::cli
