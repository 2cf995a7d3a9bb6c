// A part that is longer than a line gets its own line and is cut.
#include "top/wrap.h"

#include <algorithm>

namespace echoline::top {

std::vector<std::string> words_of(std::string_view sentence) {
  std::vector<std::string> words;
  while (!sentence.empty()) {
    const std::size_t end = std::min(sentence.find(' '), sentence.size());
    if (end > 0) words.emplace_back(sentence.substr(0, end));
    sentence.remove_prefix(std::min(end + 1, sentence.size()));
  }
  return words;
}

std::vector<Line> wrapped(std::string_view label, const std::vector<std::string>& parts,
                          std::string_view gap, std::size_t lines_max, const Paper& paper,
                          Style style) {
  const std::size_t room =
      paper.columns > kLabelColumns ? paper.columns - kLabelColumns : paper.columns;
  std::vector<std::string> texts;
  for (const std::string& part : parts) {
    const bool fits =
        !texts.empty() && columns_of(texts.back()) + columns_of(gap) + columns_of(part) <= room;
    if (fits) {
      texts.back().append(gap).append(part);
    } else if (texts.size() < lines_max) {
      texts.push_back(part);
    } else {
      texts.back() = shortened(texts.back().append(gap).append(part), room, paper.theme);
      break;
    }
  }
  std::vector<Line> lines;
  for (const std::string& text : texts) {
    Line& line = lines.emplace_back();
    line.add(lines.size() == 1 ? label : "", Style::kFaint).fill_to(kLabelColumns);
    line.add(shortened(text, room, paper.theme), style);
  }
  return lines;
}

}  // namespace echoline::top
