// Which format a data set has: by its contents, not by the names of its files.
#pragma once

#include <vector>

#include "base/status.h"
#include "record/index/format.h"
#include "record/index/listing.h"

namespace echoline::record {

// The format that matches best. Reads the start of the first object, and index files of formats
// that have one. kInvalidArgument, with what was found there, if no format matches;
// kUnimplemented for a compressed object of a format that is not read compressed. Blocks.
Result<const Format*> detect_format(const v1::Read& read, const std::vector<Listed>& listed,
                                    source::Source& source);

}  // namespace echoline::record
