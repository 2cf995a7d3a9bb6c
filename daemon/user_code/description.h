// What a plugin says about the fields that it returns.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "decode/sample.h"

namespace echoline::user_code {

// Parses a description, which a worker wrote and which may be anything, and checks that the fields
// have names, types and sizes that a step can return, and fit into `bytes_max`.
Result<std::vector<decode::FieldType>> parse_outputs(std::string_view json,
                                                     std::uint64_t bytes_max);

}  // namespace echoline::user_code
