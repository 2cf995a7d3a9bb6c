// Progress of an index that is being built, as log lines every few seconds.
#pragma once

#include <string>

#include "record/core/index.h"

namespace echoline::serve {

// For one stream; called from one thread at a time.
record::ProgressFunction log_progress(const std::string& stream);

}  // namespace echoline::serve
