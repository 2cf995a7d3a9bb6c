// Logs the progress of building an index, every few seconds.
#pragma once

#include <string>

#include "record/core/index.h"

namespace echoline::serve {

// The function for one stream; one thread at a time may call it.
record::ProgressFunction log_progress(const std::string& stream);

}  // namespace echoline::serve
