// The parts of the screen. Their lines are at most as wide as the paper. Pure functions.
#pragma once

#include <vector>

#include "top/interval.h"
#include "top/view.h"
#include "top/wrap.h"

namespace echoline::top {

// The daemon in one line.
Line daemon_line(const Interval& interval, const View& view, const Paper& paper);

// A heading and one line per stream, around the chosen one; at most `rows_max` lines (at least 2).
std::vector<Line> stream_table(const std::vector<StreamInterval>& streams, const View& view,
                               std::size_t rows_max, const Paper& paper);

// One stream: its properties, its limit, its stages, its source and its caches. `brief` shortens
// each part.
std::vector<Line> stream_panel(const StreamInterval& stream, bool brief, const Paper& paper);

// A heading and one line per trainer, sorted. If there are too many, the last of `rows_max` lines
// shows the number of the others.
std::vector<Line> trainer_table(const StreamInterval& stream, Sort sort, std::size_t rows_max,
                                const Paper& paper);

// What delays the trainers of one stream now.
std::vector<Line> stall_panel(const StreamInterval& stream, const Paper& paper);

// Explains the screen and the keys.
std::vector<Line> help_panel(const Paper& paper);

}  // namespace echoline::top
