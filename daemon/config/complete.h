// Fills in the schema's defaults and checks each value: required keys, ranges, allowed words,
// lengths of lists. structure.h checks how values fit together.
#pragma once

#include <google/protobuf/message.h>

#include "base/status.h"
#include "config/source_locations.h"

namespace echoline::config {

Status complete(google::protobuf::Message& message, const SourceLocations& locations);

}  // namespace echoline::config
