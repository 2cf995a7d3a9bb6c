// A whole screen. Pure functions: the same interval, view, size and theme give the same lines.
#pragma once

#include <vector>

#include "top/interval.h"
#include "top/terminal.h"
#include "top/view.h"

namespace echoline::top {

// At most size.rows lines.
std::vector<Line> frame(const Interval& interval, const View& view, const Size& size,
                        const Theme& theme);

// What is printed where nothing can be drawn: everything, however long, and an empty line at the
// end. Of the view only stream counts: that one alone, or all where it is empty.
std::string block(const Interval& interval, const View& view, std::size_t columns,
                  const Theme& theme);

}  // namespace echoline::top
