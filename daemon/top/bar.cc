// Rounds the borders between the parts, not their widths, so that the parts always fill the bar.
#include "top/bar.h"

#include <cmath>

namespace echoline::top {
namespace {

std::string repeated(std::string_view mark, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += mark;
  return text;
}

}  // namespace

BarMarks bar_marks(const Theme& theme) {
  return theme.utf8 ? BarMarks{"█", "░", "▒"} : BarMarks{"#", ".", "="};
}

void add_bar(Line& line, const StageShares& stage, std::size_t columns, const Theme& theme) {
  const std::size_t end = line.columns() + columns;
  if (stage.busy + stage.starved + stage.blocked > 0) {
    const BarMarks marks = bar_marks(theme);
    const auto border = [columns](double share) {
      return static_cast<std::size_t>(std::lround(share * static_cast<double>(columns)));
    };
    const std::size_t busy = std::min(columns, border(stage.busy));
    const std::size_t fed = std::min(columns, border(stage.busy + stage.starved));
    line.add(repeated(marks.busy, busy), Style::kBusy);
    line.add(repeated(marks.starved, fed - busy), Style::kStarved);
    line.add(repeated(marks.blocked, columns - fed), Style::kBlocked);
  }
  line.fill_to(end);
}

}  // namespace echoline::top
