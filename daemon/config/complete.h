// Fills in what the schema says stands where nothing is written, and checks each value alone:
// required keys, ranges, words, lengths of lists. How values fit together is structure.h.
#pragma once

#include <google/protobuf/message.h>

#include "base/status.h"
#include "config/source_locations.h"

namespace echoline::config {

Status complete(google::protobuf::Message& message, const SourceLocations& locations);

}  // namespace echoline::config
