// Opens the source that a `read` step names.
#pragma once

#include <memory>

#include "base/status.h"
#include "source/core/access.h"
#include "source/core/source.h"

namespace echoline::source {

// The source for the scheme of these addresses (all of one scheme), behind `throttle` if one is
// set. Credentials and reachability are checked: a wrong key or a missing bucket fails here. To
// write to web servers is kUnimplemented.
Result<std::unique_ptr<Source>> open_source(const v1::Read& read, Access access = Access::kRead);

}  // namespace echoline::source
