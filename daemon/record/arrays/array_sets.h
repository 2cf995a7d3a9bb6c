// Data sets of arrays: IDX images with labels, token files, and bare numbers.
#pragma once

#include <cstdint>
#include <memory>

#include "record/index/format.h"

namespace echoline::record {

// Format idx. Each object holds items along its first dimension; the key is "FILE:NUMBER". The
// fields are "image", the raw little-endian elements, and, if labels follow, "label" in decimal. An
// object of rank 1 after one of higher rank holds its labels: they are read into memory when the
// data set is opened, and that object is a shard without records.
extern const Format kIdxFormat;

// Format tokens: raw tokens of read.tokens.dtype, or .npy files that state their type, cut into
// records by read.tokens. The field is "tokens", raw and little-endian; the key is "FILE:NUMBER".
extern const Format kTokensFormat;

// A data set whose samples users' code makes from their numbers (source/local/number_source.h). The
// field is "index", the number as int64; the key is "python:NUMBER".
std::unique_ptr<DataSet> make_number_set(std::uint64_t count);

}  // namespace echoline::record
