// Which format a data set has, by its first bytes and not by its names.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "record/listing.h"

namespace echoline::record {

// "webdataset", "folder", "idx" or "tokens"; kInvalidArgument, with what was seen, where none is
// sure.
Result<std::string> detect_format(const v1::Read& read, const std::vector<Listed>& listed,
                                  source::Source& source);

}  // namespace echoline::record
