// Opens the source that a `read` step names.
#pragma once

#include <memory>

#include "base/status.h"
#include "echoline/v1/config.pb.h"
#include "source/core/access.h"
#include "source/core/source.h"

namespace echoline::source {

// The source for these addresses, which must share one scheme, with `read.throttle` if it is set;
// of a data set in Python, one for the numbers of its samples.
// Sends a first request: a wrong key or a missing bucket fails here. Writing to web servers and
// to the Hub is kUnimplemented. Blocks.
Result<std::unique_ptr<Source>> open_source(const v1::Read& read, Access access = Access::kRead);

// A copy whose `endpoint` is the one that open_source() uses, wherever it is configured: in the
// `read` step, the environment or a profile. Empty for the cloud's own, and for files.
v1::Read with_endpoint(const v1::Read& read);

}  // namespace echoline::source
