// Checks of single steps that the schema's options cannot say. For steps that complete.h has
// accepted.
#pragma once

#include "base/status.h"
#include "config/source_locations.h"
#include "echoline/v1/config.pb.h"

namespace echoline::config {

// Schemes that are read in this version, all of one kind; settings that fit the format.
Status check_read(const v1::Read& read, const SourceLocations& locations);
// At least one field, names that can be attributes, shapes that fit the type.
Status check_decode(const v1::Decode& decode, const SourceLocations& locations);
// At least one level; after decode only memory. Addresses of servers.
Status check_cache(const v1::Stream& stream, const SourceLocations& locations);
// The fields they name come out of `decode`; lists of one length.
Status check_augmentations(const v1::Stream& stream, const SourceLocations& locations);

}  // namespace echoline::config
