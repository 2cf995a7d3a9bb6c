// Adds columns rank by rank while there is room. Two spaces separate columns.
#include "top/table.h"

#include <fmt/core.h>

#include <algorithm>

namespace echoline::top {
namespace {

constexpr std::size_t kGap = 2;

}  // namespace

Table::Table(std::string name, std::vector<Column> columns, std::size_t width, const Theme& theme)
    : name_(std::move(name)), columns_(std::move(columns)), theme_(theme), name_columns_(width) {
  int rank_all = 0;
  for (const Column& column : columns_) rank_all = std::max(rank_all, column.rank);
  for (int rank = 1; rank <= rank_all; ++rank) {
    std::size_t taken = 0;
    for (const Column& column : columns_) {
      if (column.rank == rank) taken += column.columns + kGap;
    }
    if (taken + kNameColumns > name_columns_) break;
    name_columns_ -= taken;
    rank_max_ = rank;
  }
}

Line Table::heading() const {
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  return row(name_, titles, Style::kFaint);
}

Line Table::row(const std::string& name, const std::vector<std::string>& cells, Style style) const {
  std::string text = shortened(name, name_columns_, theme_);
  text.append(name_columns_ - columns_of(text), ' ');
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (shown(columns_[i])) text += fmt::format("  {:>{}}", cells[i], columns_[i].columns);
  }
  return Line().add(text, style);
}

}  // namespace echoline::top
