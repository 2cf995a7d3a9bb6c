// A stage's time as a bar. Pure functions.
#pragma once

#include "top/interval.h"
#include "top/line.h"

namespace echoline::top {

// The characters for a stage's states: full, dotted and half-filled blocks, or #.= in ASCII.
struct BarMarks {
  const char* busy;
  const char* starved;
  const char* blocked;
};
BarMarks bar_marks(const Theme& theme);

// Adds the shares busy, starved and blocked to the line, exactly `columns` wide in all; spaces if
// nothing was measured.
void add_bar(Line& line, const StageShares& stage, std::size_t columns, const Theme& theme);

}  // namespace echoline::top
