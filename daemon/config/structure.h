// How the values of a stream fit together: the order of its steps, the fields they name, sizes that
// divide one another. For streams that complete.h has accepted.
#pragma once

#include "base/status.h"
#include "config/source_locations.h"
#include "echoline/v1/config.pb.h"

namespace echoline::config {

// Adds the `publish` step where none is written.
Status check_structure(v1::Stream& stream, const SourceLocations& locations);

}  // namespace echoline::config
