// Finds and decodes the first record of a tar shard without an index.
#pragma once

#include "base/status.h"
#include "echoline/v1/config.pb.h"
#include "source/core/source.h"

namespace echoline::cli {

// Scans the beginning of the shard for a few records and decodes them with the stream's `decode`
// step until one succeeds; else returns the last error. False: no record in the beginning, so only
// an index can find the first one. Blocks; reads little more than those records.
Result<bool> try_first_record(const v1::Stream& stream, const source::ObjectInfo& shard,
                              source::Source& source);

}  // namespace echoline::cli
