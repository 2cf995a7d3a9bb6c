// Says which limit of the system was reached, and how to raise it.
#pragma once

#include <system_error>

#include "base/status.h"

namespace echoline {

// Of a thread that cannot be started, or of a descriptor that cannot be had: kResourceExhausted.
Status limit_reached(const std::system_error& error);

}  // namespace echoline
