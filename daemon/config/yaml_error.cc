// yaml-cpp names the rule of its grammar that failed, at the place where it gave up. Users look for
// the bracket, the quote or the colon that is missing.
#include "config/yaml_error.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/sanitize_name.h"

namespace echoline::config {
namespace {

constexpr std::size_t kShownLineBytesMax = 80;

// The text in lines. Numbers of lines and columns count from 0, as in marks.
class Lines {
 public:
  explicit Lines(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::size_t last = text.substr(0, end).find_last_not_of(" \r");
      lines_.push_back(text.substr(0, last == std::string_view::npos ? 0 : last + 1));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  // Empty beyond the end.
  std::string_view at(int line) const {
    return line >= 0 && line < count() ? lines_[static_cast<std::size_t>(line)] : "";
  }
  char sign_at(const YAML::Mark& mark) const {
    const auto column = static_cast<std::size_t>(std::max(mark.column, 0));
    return column < at(mark.line).size() ? at(mark.line)[column] : ' ';
  }
  int count() const { return static_cast<int>(lines_.size()); }
  bool is_blank(int line) const {
    const std::size_t first = at(line).find_first_not_of(" \t\r");
    return first == std::string_view::npos || at(line)[first] == '#';
  }
  // The last line before this one with something in it; -1: none.
  int before(int line) const {
    for (--line; line >= 0 && is_blank(line);) --line;
    return line;
  }
  YAML::Mark begin_of(int line) const {
    YAML::Mark mark;
    mark.line = line;
    mark.column = static_cast<int>(std::min(at(line).find_first_not_of(' '), at(line).size()));
    return mark;
  }

 private:
  std::vector<std::string_view> lines_;
};

// What is open at a place: brackets, the innermost last, and a quote.
struct Open {
  struct Sign {
    char sign;
    YAML::Mark mark;
  };
  std::vector<Sign> brackets;
  std::optional<Sign> quote;
};

// Walks through a line from outside or inside of brackets and quotes.
void walk(std::string_view line, int number, Open& open) {
  bool begins = true;  // a value can begin here, so that quotes and brackets count
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    YAML::Mark mark;
    mark.line = number;
    mark.column = static_cast<int>(i);
    if (open.quote.has_value()) {
      const bool doubled = c == '\'' && i + 1 < line.size() && line[i + 1] == c;
      if (open.quote->sign == '"' ? c == '\\' : doubled) {
        ++i;
      } else if (c == open.quote->sign) {
        open.quote.reset();
      }
      begins = false;
      continue;
    }
    const bool spaced = i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t';
    if (c == '#' && spaced) return;
    if ((c == '"' || c == '\'') && begins) {
      open.quote = {c, mark};
    } else if ((c == '{' || c == '[') && (begins || !open.brackets.empty())) {
      open.brackets.push_back({c, mark});
    } else if ((c == '}' || c == ']') && !open.brackets.empty()) {
      open.brackets.pop_back();
    }
    if (c == ' ') continue;
    const bool separates = c == ':' || c == '-' || c == '?';
    const bool space_follows = i + 1 == line.size() || line[i + 1] == ' ';
    begins = (separates && space_follows) ||
             (!open.brackets.empty() && (c == '{' || c == '[' || c == ',' || c == ':'));
  }
}

// What is open before the mark.
Open open_at(const Lines& lines, const YAML::Mark& mark) {
  Open open;
  for (int line = 0; line < std::min(mark.line, lines.count()); ++line) {
    walk(lines.at(line), line, open);
  }
  const auto columns = static_cast<std::size_t>(std::max(mark.column, 0));
  walk(lines.at(mark.line).substr(0, columns), mark.line, open);
  return open;
}

char closing(char bracket) { return bracket == '{' ? '}' : ']'; }

std::optional<YamlMistake> open_quote(const Lines& lines, const YAML::Mark& mark) {
  const Open open = open_at(lines, mark);
  if (!open.quote.has_value()) return std::nullopt;
  return YamlMistake{open.quote->mark, fmt::format("the quote {} is not closed", open.quote->sign)};
}

std::optional<YamlMistake> open_bracket(const Lines& lines, const YAML::Mark& mark) {
  const Open open = open_at(lines, mark);
  if (open.quote.has_value()) return open_quote(lines, mark);
  if (open.brackets.empty()) return std::nullopt;
  if (const char sign = lines.sign_at(mark); sign == '{' || sign == '[') {
    return YamlMistake{mark, fmt::format("'{}' inside a value; put the value into quotes, or a "
                                         "comma before what is another one",
                                         sign)};
  }
  const Open::Sign& last = open.brackets.back();
  return YamlMistake{last.mark, fmt::format("'{}' is not closed; write '{}' after its last value",
                                            last.sign, closing(last.sign))};
}

YamlMistake wrong_closing(const Lines& lines, const YAML::Mark& mark) {
  const char found = lines.sign_at(mark);
  const Open open = open_at(lines, mark);
  if (open.brackets.empty()) return {mark, fmt::format("'{}' closes nothing; remove it", found)};
  const char opened = open.brackets.back().sign;
  return {mark, fmt::format("'{}' where the '{}' of column {} is still open; close it with '{}'",
                            found, opened, open.brackets.back().mark.column + 1, closing(opened))};
}

// In the line before this one.
std::optional<YamlMistake> missing_colon(const Lines& lines, int line) {
  const int above = lines.before(line);
  const std::string_view text = lines.at(above);
  const bool ends_value = text.ends_with(':') || text.ends_with('}') || text.ends_with(']');
  if (above < 0 || ends_value || text.find(": ") != std::string_view::npos) return std::nullopt;
  return YamlMistake{lines.begin_of(above),
                     "a colon and a space are missing between the key and its value"};
}

// A colon where no key can end: mostly that of the line before is missing.
YamlMistake wrong_colon(const Lines& lines, const YAML::Mark& mark) {
  const std::string_view line = lines.at(mark.line);
  const auto colon = static_cast<std::size_t>(std::max(mark.column, 0));
  const std::string_view before = line.substr(0, std::min(colon, line.size()));
  if (before.find(": ") != std::string_view::npos) {
    return {mark,
            "a second ': ' in one line; put a value that contains one into quotes, and keys of "
            "their own into braces or lines of their own"};
  }
  if (const auto missing = missing_colon(lines, mark.line)) return *missing;
  return {lines.begin_of(mark.line),
          "this line is indented more than the line before, which has a value already"};
}

// The block ended before this place, and something follows.
YamlMistake wrong_block(const Lines& lines, const YAML::Mark& mark) {
  if (mark.column == lines.begin_of(mark.line).column) {
    const bool in_list = lines.sign_at(mark) == '-';
    const auto missing = in_list ? std::nullopt : missing_colon(lines, mark.line);
    if (missing.has_value()) return *missing;
    return {mark,
            "this line continues no block above it; begin the keys of a mapping and the '- ' of a "
            "list in one column, with a space after each '-'"};
  }
  return {mark, "text after a value that is complete; put the whole value into quotes"};
}

std::optional<YamlMistake> explain(const Lines& lines, const YAML::Exception& error) {
  using namespace YAML::ErrorMsg;
  const YAML::Mark& mark = error.mark;
  const std::string& said = error.msg;
  if (said == END_OF_MAP_FLOW || said == END_OF_SEQ_FLOW) return open_bracket(lines, mark);
  if (said == EOF_IN_SCALAR || said == DOC_IN_SCALAR) return open_quote(lines, mark);
  if (said == FLOW_END) return wrong_closing(lines, mark);
  if (said == MAP_VALUE) return wrong_colon(lines, mark);
  if (said == END_OF_MAP || said == END_OF_SEQ) return wrong_block(lines, mark);
  if (said == BLOCK_ENTRY) {
    return YamlMistake{mark,
                       "'- ' begins an entry only on a line of its own; a list in one line "
                       "is [a, b]"};
  }
  if (said == UNKNOWN_TOKEN) return YamlMistake{mark, "a value with this sign first needs quotes"};
  if (said.starts_with(UNKNOWN_ANCHOR)) {
    return YamlMistake{mark,
                       "'*' means the value of an anchor '&', and there is none with this "
                       "name; put a text that begins with '*' into quotes"};
  }
  if (said.starts_with(INVALID_ESCAPE)) {
    return YamlMistake{mark,
                       "in double quotes, a backslash is written '\\\\'; in single quotes it "
                       "stays one"};
  }
  return std::nullopt;
}

}  // namespace

YamlMistake explain_yaml_error(std::string_view text, const YAML::Exception& error) {
  const Lines lines(text);
  YamlMistake mistake = explain(lines, error).value_or(YamlMistake{error.mark, error.msg});
  mistake.what = "not readable as YAML: " + mistake.what;
  // The end of the text has no line.
  const std::string_view line = lines.at(mistake.mark.line);
  const std::size_t first = std::min(line.find_first_not_of(" \t"), line.size());
  if (const std::string_view shown = line.substr(first); !shown.empty()) {
    mistake.what +=
        fmt::format("; the line: {}", sanitize_name(cut_text(shown, kShownLineBytesMax)));
  }
  return mistake;
}

}  // namespace echoline::config
