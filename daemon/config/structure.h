// Checks how the values of a stream fit together: the order of steps, the fields that they name,
// and sizes that must divide each other. For streams that complete.h has accepted.
#pragma once

#include "base/status.h"
#include "config/source_locations.h"
#include "echoline/v1/config.pb.h"

namespace echoline::config {

// Also adds the `publish` step if there is none.
Status check_structure(v1::Stream& stream, const SourceLocations& locations);

}  // namespace echoline::config
