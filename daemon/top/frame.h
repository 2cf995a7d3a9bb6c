// Lays out a whole screen. Pure functions: the same interval, view, size and theme give the same
// lines.
#pragma once

#include <vector>

#include "top/interval.h"
#include "top/terminal.h"
#include "top/view.h"

namespace echoline::top {

// At most size.rows lines.
std::vector<Line> frame(const Interval& interval, const View& view, const Size& size,
                        const Theme& theme);

// The text for an output that is no terminal: all lines, and an empty one at the end. Of the view
// it uses only `stream`: shows that one, or all if it is empty.
std::string block(const Interval& interval, const View& view, std::size_t columns,
                  const Theme& theme);

}  // namespace echoline::top
