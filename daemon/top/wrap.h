// Text of several parts in lines below each other, behind a label. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "top/line.h"

namespace echoline::top {

// What lines are made for.
struct Paper {
  std::size_t columns = 80;
  Theme theme;
};

// Where text begins behind the labels.
inline constexpr std::size_t kLabelColumns = 9;

// Printable parts with `gap` between them; a part that does not fit begins the next line. The lines
// after `lines_max` are left out, which the last one's end shows.
std::vector<Line> wrapped(std::string_view label, const std::vector<std::string>& parts,
                          std::string_view gap, std::size_t lines_max, const Paper& paper,
                          Style style = Style::kPlain);

// The words of a sentence, as parts for a gap of one space.
std::vector<std::string> words_of(std::string_view sentence);

}  // namespace echoline::top
