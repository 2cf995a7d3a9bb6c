// The echo of a stream and the best one, as text.
#pragma once

#include <string>

#include "analyze/analysis.h"

namespace echoline::analyze {

// The place and the factor in the interval, and the factor that is set if it is another one.
std::string present_echo_text(const Measures& measures);
// The best echo and the step to write for it; "" where it is unknown.
std::string echo_remedy_text(const Analysis& analysis);
// "367.7", or "unknown" for one that is not finite.
std::string rate_text(double rate);

}  // namespace echoline::analyze
