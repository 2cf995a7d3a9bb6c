// The row from which on a change of the echo factor shows.
#pragma once

#include <cstdint>

#include "engine/walk/factor_history.h"
#include "plan/plan.h"
#include "plan/position.h"

namespace echoline::engine {

// The first row at or after `from` at which the order under `after` differs from that under
// `before`: another record or use, or the end of one of the epochs. Looks at the epoch of `from`
// and the next one, some million rows at most; `from` itself if no difference is found there. Takes
// up to a second: not under a lock. Pure function.
plan::Position first_changed_row(const plan::Plan& plan, const FactorHistory& before,
                                 const FactorHistory& after, plan::Position from);

}  // namespace echoline::engine
