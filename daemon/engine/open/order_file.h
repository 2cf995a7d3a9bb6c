// Reads files of record ids: text with one id on each line, or a NumPy array of integers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/status.h"

namespace echoline::engine {

// Calls `take` with each id, in the order of the file. An error names file and place, also one of
// `take`, which ends the reading.
Status for_each_id(const std::string& path, const std::function<Status(std::uint64_t)>& take);

}  // namespace echoline::engine
