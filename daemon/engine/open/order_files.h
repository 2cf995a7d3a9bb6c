// Which files have the lists of an order.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace echoline::engine {

// The files of `shuffle.order` in the order of their epochs: "{epoch}" in the name of the file
// becomes 0, 1, 2 and so on; without it there is one file. kNotFound: the one of epoch 0, or of
// an epoch before another one, is missing.
Result<std::vector<std::string>> order_files(const std::string& order);

}  // namespace echoline::engine
