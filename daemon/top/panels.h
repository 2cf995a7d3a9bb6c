// The parts of the screen, each as lines that are as wide as the paper at most. Pure functions.
#pragma once

#include <vector>

#include "top/interval.h"
#include "top/view.h"
#include "top/wrap.h"

namespace echoline::top {

// The daemon in one line.
Line daemon_line(const Interval& interval, const View& view, const Paper& paper);

// A heading and one line a stream, `rows_max` lines at most (at least 2), those around the chosen
// one.
std::vector<Line> stream_table(const std::vector<StreamInterval>& streams, const View& view,
                               std::size_t rows_max, const Paper& paper);

// What it is, what limits it, its stages, its source and its caches; in brief the first lines of
// each.
std::vector<Line> stream_panel(const StreamInterval& stream, bool brief, const Paper& paper);

// A heading and one line a trainer in the wanted order; the last of `rows_max` lines says how many
// are left out.
std::vector<Line> trainer_table(const StreamInterval& stream, Sort sort, std::size_t rows_max,
                                const Paper& paper);

// What stands on the screen, and the keys.
std::vector<Line> help_panel(const Paper& paper);

}  // namespace echoline::top
