// Local paths of a stream that count from a folder, made whole.
#pragma once

#include <filesystem>

#include "echoline/v1/config.pb.h"

namespace echoline::cli {

// A daemon has a working folder of its own: what is relative in a stream that is sent to it would
// be looked for there.
void anchor_paths(v1::Stream& stream, const std::filesystem::path& folder);

}  // namespace echoline::cli
