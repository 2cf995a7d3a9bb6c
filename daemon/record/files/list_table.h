// A list of files with columns: CSV, JSON lines, or plain paths.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace echoline::record {

// Stores rows in flat memory, because a million rows as strings would need too much of it. Filled
// by one thread, then immutable and readable by any.
class ListTable {
 public:
  // Parses a list by the ending of its name: .csv, .jsonl or .ndjson, otherwise one path per line.
  // A CSV list has a header with a column "path"; without a header it is "path" or "path,label".
  // JSON objects have a member "path". "file_name" is accepted instead of "path". All rows have the
  // same columns. kInvalidArgument names the line.
  static Result<ListTable> parse(std::string_view name, std::string_view text);

  // Names of the columns, without the path.
  const std::vector<std::string>& columns() const { return columns_; }
  std::uint64_t rows() const { return end_.size() / (columns_.size() + 1); }
  std::string_view path(std::uint64_t row) const { return cell(row, 0); }
  std::string_view value(std::uint64_t row, std::size_t column) const {
    return cell(row, column + 1);
  }

  // Appends the rows of a list with the same columns; kInvalidArgument for other columns.
  Status append(const ListTable& other);

 private:
  Status parse_csv(std::string_view text);
  Status parse_json_lines(std::string_view text);
  void parse_paths(std::string_view text);
  void add_cell(std::string_view text);
  std::string_view cell(std::uint64_t row, std::size_t column) const;

  std::vector<std::string> columns_;
  std::string text_;
  std::vector<std::uint64_t> end_;  // end of each cell in text_; the path is first in each row
};

}  // namespace echoline::record
