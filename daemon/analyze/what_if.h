// Reads a question of the user's own: "workers=16, cache.memory=64GiB, echo.factor=3".
#pragma once

#include <string>

#include "analyze/model.h"
#include "base/status.h"

namespace echoline::analyze {

// The present setting with these changes. Keys: workers, cache.memory (bytes), cache.share (30%),
// echo.factor, echo.place (none, record, sample, augmented, batch), store.rate and trainers.rate
// (multiples of the measured rate, as x2), store.latency (a time, or a multiple), image.size (of
// the sides, as x1.5), passes. Their order does not matter. kInvalidArgument: the text itself is
// wrong, names the key and what is allowed. kFailedPrecondition: not measured of this stream.
Result<Setting> parse_what_if(const std::string& text, const Measures& measures);

}  // namespace echoline::analyze
