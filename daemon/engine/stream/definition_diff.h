// Names the differences of two definitions of a stream.
#pragma once

#include <string>

#include "echoline/v1/config.pb.h"

namespace echoline::engine {

// One line, as "pipeline[3].echo.factor: 2000 -> 2500"; of many differences the first three. Empty
// if there are none. Both definitions have all defaults filled in. Pure function.
std::string differences_of(const v1::Stream& before, const v1::Stream& after);

}  // namespace echoline::engine
