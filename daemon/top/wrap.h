// Wraps text into lines after a label. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "top/line.h"

namespace echoline::top {

// The target of a layout: its width and theme.
struct Paper {
  std::size_t columns = 80;
  Theme theme;
};

// The column where the text begins, after the labels.
inline constexpr std::size_t kLabelColumns = 9;

// Joins printable parts with `gap`; a part that does not fit begins the next line. Lines after
// `lines_max` are omitted, and a mark at the end of the last one shows that.
std::vector<Line> wrapped(std::string_view label, const std::vector<std::string>& parts,
                          std::string_view gap, std::size_t lines_max, const Paper& paper,
                          Style style = Style::kPlain);

// The words of a sentence, to be used as parts with a gap of one space.
std::vector<std::string> words_of(std::string_view sentence);

}  // namespace echoline::top
