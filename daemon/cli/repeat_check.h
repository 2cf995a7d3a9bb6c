// The part of `echoline check` about users' functions: whether they give the same again.
#pragma once

#include "base/status.h"
#include "cli/bad_record_check.h"
#include "cli/row_attempts.h"
#include "engine/open/stream_core.h"

namespace echoline::cli {

// Makes the rows of a few records twice, in another order and mostly in other worker processes, and
// compares their bytes. Where a function gets chunks of samples, it makes them again in chunks of
// two sizes. kFailedPrecondition names the sample and the field that differ. The records count as
// `tried`. Blocks.
Status check_repeatable(const engine::StreamCore& core, RowAttempts& attempts, TriedRecords& tried);

}  // namespace echoline::cli
