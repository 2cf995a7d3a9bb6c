// Makes the relative paths of a stream absolute.
#pragma once

#include <filesystem>

#include "echoline/v1/config.pb.h"

namespace echoline::cli {

// Resolves them against `folder`. The daemon has another working folder than the command that sends
// it a stream, so it would look for a relative path in the wrong place.
void resolve_paths(v1::Stream& stream, const std::filesystem::path& folder);

}  // namespace echoline::cli
