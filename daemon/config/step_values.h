// Checks of single steps that the schema's options cannot express. For steps that complete.h has
// accepted.
#pragma once

#include "base/status.h"
#include "config/source_locations.h"
#include "echoline/v1/config.pb.h"

namespace echoline::config {

// The schemes are known and all of one kind; the settings fit the format.
Status check_read(const v1::Read& read, const SourceLocations& locations);
// There is a window or an order, and not both; the name of the order's file can be meant.
Status check_shuffle(const v1::Stream& stream, const SourceLocations& locations);
// There is a field, its name can be an attribute in Python, and its shape fits its type.
Status check_decode(const v1::Stream& stream, const SourceLocations& locations);
// The same for the step of one source.
Status check_fields(const v1::Decode& decode, const SourceLocations& locations);
// There is a level, after decode only memory; addresses of servers are well-formed.
Status check_cache(const v1::Stream& stream, const SourceLocations& locations);
// The fields that augmentations name exist in `decode`; their lists have equal lengths.
Status check_augmentations(const v1::Stream& stream, const SourceLocations& locations);

}  // namespace echoline::config
