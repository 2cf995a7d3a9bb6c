#include "record/lines/line_sets.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "record/core/fields.h"
#include "record/index/shard_index.h"
#include "record/index/table_index.h"
#include "record/lines/json_record.h"
#include "record/lines/line_scan.h"

namespace echoline::record {
namespace {

class LineDataSet final : public TableDataSet {
 public:
  using Cut = Status (*)(std::span<const std::byte> line, Fields& fields);

  LineDataSet(StoredIndex stored, TableOptions options, std::string_view format, Cut cut_line)
      : TableDataSet(std::move(stored), std::move(options)), format_(format), cut_(cut_line) {}
  std::string_view format() const override { return format_; }
  Status cut(std::uint64_t, std::span<const std::byte> bytes, Fields& fields) const override {
    return cut_(bytes, fields);
  }

 private:
  const std::string_view format_;
  const Cut cut_;
};

Status cut_text(std::span<const std::byte> line, Fields& fields) {
  clear_fields(fields);
  const std::string_view text = as_text(line);
  const std::size_t last = text.find_last_not_of(" \t\r");
  fields.fields.push_back({"text", line.first(last == std::string_view::npos ? 0 : last + 1)});
  return {};
}

OpenedDataSet open_lines(const OpenRequest& request, std::vector<Listed> listed,
                         std::string_view format, LineDataSet::Cut cut) {
  const std::vector<source::ObjectInfo> shards = flatten(std::move(listed));
  ECHOLINE_ASSIGN(StoredIndex stored, load_or_build_index(request, shards, line_scan_spec(format)));
  if (stored.records.size() == 0) {
    return Status(Code::kNotFound, fmt::format("no lines in {} files, the first is {}",
                                               shards.size(), shards.front().url));
  }
  return std::unique_ptr<DataSet>(std::make_unique<LineDataSet>(
      std::move(stored), table_options(request.read, request.state_dir), format, cut));
}

OpenedDataSet open_json_lines(const OpenRequest& request, std::vector<Listed> listed) {
  return open_lines(request, std::move(listed), "jsonl", cut_json_record);
}

OpenedDataSet open_text_lines(const OpenRequest& request, std::vector<Listed> listed) {
  return open_lines(request, std::move(listed), "lines", cut_text);
}

bool is_list_member(std::string_view name) { return name == "path" || name == "file_name"; }

// A first line that is an object, or an object that is longer than the head. A list of files in
// JSON lines is left to format `files`, and a file named *.json is one document.
Result<Match> match_json_lines(const FormatProbe& probe) {
  if (probe.listed.front().objects.front().url.ends_with(".json")) return Match::kNone;
  std::string_view text = as_text(probe.head);
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || text[begin] != '{') return Match::kNone;
  text.remove_prefix(begin);
  const std::size_t end = text.find('\n');
  // Not all of the line is known: its start decides.
  if (end == std::string_view::npos && text.size() < probe.object_bytes - begin) {
    const std::size_t name = text.find_first_not_of(" \t\r", 1);
    return name != std::string_view::npos && text[name] == '"' ? Match::kContent : Match::kNone;
  }
  const auto line = nlohmann::json::parse(text.substr(0, end), nullptr, false);
  if (!line.is_object() || line.empty()) return Match::kNone;
  for (const auto& member : line.items()) {
    if (is_list_member(member.key())) return Match::kNone;
  }
  return Match::kContent;
}

}  // namespace

constinit const Format kJsonLinesFormat = {
    .name = "jsonl",
    .match = match_json_lines,
    .open = open_json_lines,
    .reads_compressed = true,
    .scans_shards = true,
};

// Any text could be lines, so only the configuration chooses this format.
constinit const Format kLinesFormat = {
    .name = "lines",
    .open = open_text_lines,
    .reads_compressed = true,
    .scans_shards = true,
};

}  // namespace echoline::record
