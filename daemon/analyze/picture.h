// The curves of an analysis as a picture.
#pragma once

#include <string>
#include <vector>

#include "analyze/curves.h"

namespace echoline::analyze {

// An SVG document: a diagram for each curve, with today's point. Those of predictions have a common
// scale and the rate that the trainers take. `trainer_rows`: infinite if unknown. Pure function.
std::string curves_svg(const std::string& stream, const std::vector<Curve>& curves,
                       const std::vector<Curve>& store_curves, double trainer_rows);

}  // namespace echoline::analyze
