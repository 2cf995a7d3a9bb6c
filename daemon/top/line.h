// Text that stands on a terminal: pieces with a style, cut and filled to a width in columns.
// Pure functions; what came from elsewhere (names, errors) goes through printable() first.
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
  bool utf8 = false;   // else ASCII alone
  bool color = false;  // else strong, faint and reversed text alone
};

// `text` with nothing in it that could move the cursor or give an order to a terminal: control
// characters, bytes that are no UTF-8 and characters without a width of their own become '?', as
// does all that is not ASCII where the theme has no UTF-8.
std::string printable(std::string_view text, const Theme& theme);

// Columns that a printable text takes.
std::size_t columns_of(std::string_view text);

// A printable text in at most `columns`, its cut end marked by one.
std::string shortened(const std::string& text, std::size_t columns, const Theme& theme);

class Line {
 public:
  Line& add(std::string_view printable_text, Style style = Style::kPlain);
  // Spaces up to that column; none if the line is there already.
  Line& fill_to(std::size_t column);

  std::size_t columns() const { return columns_; }
  // Cut or filled to just so many columns, without control sequences.
  std::string text(std::size_t columns) const;
  // The same with the control sequences of its styles.
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
