// The first record of a tar shard, found and decoded without an index.
#pragma once

#include "base/status.h"
#include "echoline/v1/config.pb.h"
#include "source/core/source.h"

namespace echoline::cli {

// Scans the shard's beginning for a few records and decodes them by the stream's `decode` step
// until one succeeds; the error is the last one's. A beginning without records is no error: only
// the index can tell. Blocks; reads little more than those records.
Status try_first_record(const v1::Stream& stream, const source::ObjectInfo& shard,
                        source::Source& source);

}  // namespace echoline::cli
