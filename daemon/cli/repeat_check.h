// The part of `echoline check` about users' functions: whether they give the same again.
#pragma once

#include "base/status.h"
#include "echoline/v1/config.pb.h"
#include "engine/open/stream_core.h"

namespace echoline::cli {

// Makes the rows of a few records twice, in another order and mostly in other worker processes, and
// compares their bytes. Where a function gets chunks of samples, it makes them again in chunks of
// two sizes. kFailedPrecondition names the sample and the field that differ. Blocks.
Status check_repeatable(const v1::Stream& stream, const engine::StreamCore& core);

}  // namespace echoline::cli
