// Checks of the step `mix` that the schema's options cannot express.
#pragma once

#include "base/status.h"
#include "config/source_locations.h"
#include "echoline/v1/config.pb.h"

namespace echoline::config {

// Of a stream with this step: each source can be read, names differ, all make the same fields, the
// epoch has a length, and no other step needs one source.
Status check_mix(const v1::Stream& stream, const SourceLocations& locations);

}  // namespace echoline::config
