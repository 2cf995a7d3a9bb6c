// Reads files of record ids: text with one id on each line, or a NumPy array of integers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"

namespace echoline::engine {

// The files of `shuffle.order` in the order of their epochs: "{epoch}" in the name of the file
// becomes 0, 1, 2 and so on; without it there is one file. kNotFound: the one of epoch 0, or of
// an epoch before another one, is missing.
Result<std::vector<std::string>> order_files(const std::string& order);

// Calls `take` with each id, in the order of the file. An error names file and place, also one of
// `take`, which ends the reading.
Status for_each_id(const std::string& path, const std::function<Status(std::uint64_t)>& take);

}  // namespace echoline::engine
