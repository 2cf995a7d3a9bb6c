// A list of files with what is known of each: CSV, JSON lines, or plain paths.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace echoline::record {

// Rows in flat memory: a million of them must not stand there as strings. Filled by one thread,
// then read by any.
class ListTable {
 public:
  // Reads a list by the ending of its name: .csv, .jsonl or .ndjson, else a path on each line.
  // A CSV list has a header with a column "path", or is "path" or "path,label" without one; JSON
  // objects have a member "path"; "file_name" may stand for it. Every row has the same columns.
  // kInvalidArgument names the line.
  static Result<ListTable> parse(std::string_view name, std::string_view text);

  // Names of the columns but for the path.
  const std::vector<std::string>& columns() const { return columns_; }
  std::uint64_t rows() const { return end_.size() / (columns_.size() + 1); }
  std::string_view path(std::uint64_t row) const { return cell(row, 0); }
  std::string_view value(std::uint64_t row, std::size_t column) const {
    return cell(row, column + 1);
  }

  // Rows of a list with the same columns behind those of this one; kInvalidArgument for others.
  Status append(const ListTable& other);

 private:
  Status parse_csv(std::string_view text);
  Status parse_json_lines(std::string_view text);
  void parse_paths(std::string_view text);
  void add_cell(std::string_view text);
  std::string_view cell(std::uint64_t row, std::size_t column) const;

  std::vector<std::string> columns_;
  std::string text_;
  std::vector<std::uint64_t> end_;  // of each cell in text_, the path first in each row
};

}  // namespace echoline::record
