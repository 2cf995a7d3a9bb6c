// Tables that omit columns on a narrow terminal. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "top/line.h"

namespace echoline::top {

// A right-aligned column after the name. On a narrow terminal the highest ranks are omitted first.
struct Column {
  std::string title;
  std::size_t columns;
  int rank;
};

// The width that is kept for names before another column is shown.
inline constexpr std::size_t kNameColumns = 10;

class Table {
 public:
  // `name` is the title of the first column, which takes the remaining width.
  Table(std::string name, std::vector<Column> columns, std::size_t width, const Theme& theme);

  Line heading() const;
  // One text per column, in the order of the columns; `name` is printable.
  Line row(const std::string& name, const std::vector<std::string>& cells,
           Style style = Style::kPlain) const;

 private:
  bool shown(const Column& column) const { return column.rank <= rank_max_; }

  const std::string name_;
  const std::vector<Column> columns_;
  const Theme theme_;
  int rank_max_ = 0;
  std::size_t name_columns_;
};

}  // namespace echoline::top
