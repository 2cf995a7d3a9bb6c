// Data sets of arrays: IDX images with labels, and token files.
#pragma once

#include "record/index/format.h"

namespace echoline::record {

// Format idx. Each object holds items along its first dimension. An object of rank 1 that follows
// one of higher rank holds its labels, which are read into memory when the data set is opened.
extern const Format kIdxFormat;

// Format tokens: raw tokens of read.tokens.dtype, or .npy files that state their type, cut into
// records by read.tokens.
extern const Format kTokensFormat;

}  // namespace echoline::record
