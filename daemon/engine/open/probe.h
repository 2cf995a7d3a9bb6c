// What is learnt of a data set from a few of its records, read and decoded before the first pass.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "engine/open/stream_core.h"
#include "source/core/source.h"

namespace echoline::engine {

// Both block on the source; what a record cannot be decoded for is the error if none can.

// Fixes the types of the preparer's rows: from the steps, and where those leave a shape open, from
// the first good record, which a few more must then agree with. Returns how many bytes a decoded
// record has in the mean.
Result<std::uint64_t> probe_types(source::Source& source, StreamCore& core);

// How many bytes a decoded record takes in a SampleCache, in the mean: exact where all have one
// size, else rather more, by records from all over the data set (of compressed shards, the first).
Result<std::uint64_t> probe_kept_bytes(source::Source& source, const StreamCore& core);

}  // namespace echoline::engine
