// The results of `echoline check` as text and as JSON. Pure functions.
#pragma once

#include <map>
#include <string>

#include "cli/stream_check.h"

namespace echoline::cli {

using CheckedStreams = std::map<std::string, Checked>;

// The memory of all streams for which it is known.
std::uint64_t total_bytes(const CheckedStreams& all);

// Both end with a newline. `file` is the name of the configuration.
std::string checked_text(const std::string& file, const v1::Daemon& daemon,
                         const CheckedStreams& all);
std::string checked_json(const v1::Daemon& daemon, const CheckedStreams& all);

}  // namespace echoline::cli
