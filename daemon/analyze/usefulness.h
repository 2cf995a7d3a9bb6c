// When a training with echo reaches its target, from a table of what repeats are worth.
#pragma once

#include <string>
#include <vector>

#include "analyze/model.h"
#include "base/status.h"

namespace echoline::analyze {

// With this factor a training needs `fresh` times the fresh records that it needs without echo.
struct Usefulness {
  double factor = 1;
  double fresh = 1;
};

// One line for each factor: "4, 0.31". Empty lines and those with # are left out. Factor 1 needs no
// line; the table has it first, and the others in ascending order. kInvalidArgument names the line
// of a mistake: no factor above 1, one named twice, ...
Result<std::vector<Usefulness>> parse_usefulness(const std::string& text);

struct TargetTime {
  Usefulness use;
  double fresh_rows = 0;  // per second, predicted
  double time = 0;        // until the target, relative to the time without echo
};

// For each line of the table, factor 1 first. At the present echo point, or `sample` where there is
// none. Empty if nothing limits the stream. Pure functions.
std::vector<TargetTime> times_to_target(const Measures& measures,
                                        const std::vector<Usefulness>& table);
// A line for each factor, and the one that is the first at the target. `place`: of their echo.
// Empty for no times.
std::string target_text(const std::vector<TargetTime>& times, Place place);

}  // namespace echoline::analyze
