// Data sets of arrays: IDX images with labels, and token files.
#pragma once

#include <memory>
#include <vector>

#include "base/status.h"
#include "record/core/format.h"

namespace echoline::record {

// Objects in order: each holds items along its first dimension, and a rank-1 object right after one
// of higher rank holds its labels, which are read into memory here.
Result<std::unique_ptr<DataSet>> open_idx(std::vector<source::ObjectInfo> objects,
                                          source::Source& source);

// Raw tokens of read.tokens.dtype, or .npy files that say their own type, cut by read.tokens.
Result<std::unique_ptr<DataSet>> open_tokens(const v1::Read& read,
                                             const std::vector<source::ObjectInfo>& objects,
                                             source::Source& source);

}  // namespace echoline::record
