// A line of text on a terminal: pieces with a style, cut and filled to a width in columns. Pure
// functions. Text from outside (names, errors) must go through printable() first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace echoline::top {

enum class Style : std::uint8_t {
  kPlain,
  kFaint,
  kStrong,
  kBusy,
  kStarved,
  kBlocked,
  kGood,
  kWarning,
  kBad
};

// What the terminal can show.
struct Theme {
  bool utf8 = false;   // false: only ASCII
  bool color = false;  // false: only bold, faint and reversed text
};

// The text without anything that could move the cursor or control the terminal: control characters,
// invalid UTF-8 and characters of width 0 become '?', and without UTF-8 in the theme all characters
// that are not ASCII.
std::string printable(std::string_view text, const Theme& theme);

// The width of a printable text in columns.
std::size_t columns_of(std::string_view text);

// A printable text of at most `columns`; if it is cut, its last column is a mark.
std::string shortened(const std::string& text, std::size_t columns, const Theme& theme);

class Line {
 public:
  Line& add(std::string_view printable_text, Style style = Style::kPlain);
  // Adds spaces up to this column; none if the line is longer.
  Line& fill_to(std::size_t column);

  std::size_t columns() const { return columns_; }
  // The text, cut or filled to exactly `columns`, without control sequences.
  std::string text(std::size_t columns) const;
  // The same with the control sequences of the styles.
  std::string styled(std::size_t columns, const Theme& theme) const;

 private:
  struct Piece {
    std::string text;
    Style style;
  };
  template <typename Emit>
  void each_fitting(std::size_t columns, Emit emit) const;

  std::vector<Piece> pieces_;
  std::size_t columns_ = 0;
};

}  // namespace echoline::top
