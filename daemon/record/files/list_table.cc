// Every row is stored in the column order of the first one.
#include "record/files/list_table.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "record/files/csv.h"

namespace echoline::record {
namespace {

using Json = nlohmann::json;

bool is_path_name(std::string_view name) { return name == "path" || name == "file_name"; }

Status wrong(std::size_t line, std::string_view what) {
  return Status(Code::kInvalidArgument, fmt::format("line {}: {}", line, what));
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// A value as a decoder reads it: strings as they are, other values as JSON text.
std::string text_of(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

void ListTable::add_cell(std::string_view text) {
  text_.append(text);
  end_.push_back(text_.size());
}

std::string_view ListTable::cell(std::uint64_t row, std::size_t column) const {
  // The path is cell 0 of its row.
  const std::uint64_t at = row * (columns_.size() + 1) + column;
  const std::uint64_t start = at == 0 ? 0 : end_[at - 1];
  return std::string_view(text_).substr(start, end_[at] - start);
}

Status ListTable::parse_csv(std::string_view text) {
  std::string_view rest = text;
  auto header = take_csv_row(rest);
  if (!header.ok()) return wrong(1, header.status().message());
  const auto path = std::find_if(header->begin(), header->end(), is_path_name);
  const bool has_header = path != header->end();
  const auto path_column = has_header ? path - header->begin() : 0;
  const std::size_t count = header->size();
  if (has_header) {
    text = rest;
    columns_ = std::move(*header);
    columns_.erase(columns_.begin() + path_column);
  } else if (count == 2) {
    columns_ = {"label"};
  } else if (count > 2) {
    return wrong(1, "no column is called 'path'");
  }
  for (std::size_t line = has_header ? 2 : 1; !text.empty(); ++line) {
    auto row = take_csv_row(text);
    if (!row.ok()) return wrong(line, row.status().message());
    if (row->size() == 1 && row->front().empty()) continue;
    if (row->size() != count) {
      return wrong(line, fmt::format("{} fields where the first line has {}", row->size(), count));
    }
    // Moves the path to the front.
    std::rotate(row->begin(), row->begin() + path_column, row->begin() + path_column + 1);
    for (const std::string& field : *row) add_cell(field);
  }
  return {};
}

Status ListTable::parse_json_lines(std::string_view text) {
  std::optional<std::string> path_name;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view json = take_line(text);
    if (json.find_first_not_of(" \t") == std::string_view::npos) continue;
    const Json row = Json::parse(json, nullptr, false);
    if (!row.is_object()) return wrong(line, "no JSON object");
    // The first row defines the columns.
    if (!path_name) {
      for (const auto& [name, value] : row.items()) {
        if (is_path_name(name) && !path_name) {
          path_name = name;
        } else {
          columns_.push_back(name);
        }
      }
    }
    if (!path_name || !row.contains(*path_name)) return wrong(line, "no member 'path'");
    if (!row[*path_name].is_string()) return wrong(line, "'path' is no text");
    // Together with the lookups below: exactly the columns of the first row.
    if (row.size() != columns_.size() + 1) {
      return wrong(line, fmt::format("its members are not those of the first line: path, {}",
                                     fmt::join(columns_, ", ")));
    }
    add_cell(row[*path_name].get<std::string>());
    for (const std::string& column : columns_) {
      if (!row.contains(column)) return wrong(line, fmt::format("no member '{}'", column));
      add_cell(text_of(row[column]));
    }
  }
  return {};
}

void ListTable::parse_paths(std::string_view text) {
  while (!text.empty()) {
    if (const std::string_view line = take_line(text); !line.empty()) add_cell(line);
  }
}

Result<ListTable> ListTable::parse(std::string_view name, std::string_view text) {
  ListTable table;
  if (text.starts_with("\xEF\xBB\xBF"))
    text.remove_prefix(3);  // byte order mark of some spreadsheets
  if (name.ends_with(".csv")) {
    ECHOLINE_TRY(table.parse_csv(text));
  } else if (name.ends_with(".jsonl") || name.ends_with(".ndjson")) {
    ECHOLINE_TRY(table.parse_json_lines(text));
  } else {
    table.parse_paths(text);
  }
  for (std::uint64_t row = 0; row < table.rows(); ++row) {
    // A file index separates paths by NUL.
    if (table.path(row).empty() || table.path(row).find('\0') != std::string_view::npos) {
      return Status(Code::kInvalidArgument, fmt::format("entry {} names no file", row + 1));
    }
  }
  return table;
}

Status ListTable::append(const ListTable& other) {
  if (end_.empty()) {
    *this = other;
    return {};
  }
  if (columns_ != other.columns_) {
    return Status(Code::kInvalidArgument, "its columns are not those of the first list");
  }
  const std::uint64_t before = text_.size();
  text_ += other.text_;
  for (const std::uint64_t end : other.end_) end_.push_back(before + end);
  return {};
}

}  // namespace echoline::record
