// Which format a data set has, by its first bytes and not by its names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "record/index/listing.h"

namespace echoline::record {

// All that read.format may say, for errors.
inline constexpr std::string_view kFormatNames =
    "webdataset, tfrecord, mds, folder, files, idx or tokens";

// One of them; kInvalidArgument, with what was seen, where none is
// sure.
Result<std::string> detect_format(const v1::Read& read, const std::vector<Listed>& listed,
                                  source::Source& source);

}  // namespace echoline::record
