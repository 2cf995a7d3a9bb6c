// All labels are checked before anything is written; files are read when they are packed.
#include "pack/pack_list.h"

#include <fmt/core.h>

#include <charconv>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "record/core/local_file.h"
#include "record/core/text.h"
#include "record/files/class_names.h"
#include "record/files/csv.h"

namespace echoline::cli {
namespace {

struct Entry {
  std::string path;
  std::string label;
};

class ListInput final : public PackInput {
 public:
  explicit ListInput(std::vector<Entry> entries) : entries_(std::move(entries)) {}
  std::uint64_t count() const override { return entries_.size(); }

  Status read(std::uint64_t record, PackItem& item) override {
    const Entry& entry = entries_[record];
    ECHOLINE_ASSIGN(item.data, record::read_file(entry.path));
    // An empty file would be a bad record of every epoch.
    if (item.data.empty()) return Status(Code::kDataLoss, entry.path + " is empty");
    // The extension decides how the file is decoded later.
    const std::string extension = std::filesystem::path(entry.path).extension();
    item.extension = extension.size() < 2 ? "data" : lower_ascii(extension.substr(1));
    item.label = entry.label;
    return {};
  }

 private:
  const std::vector<Entry> entries_;
};

bool is_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // All of the text: "7a" is no number.
  return error == std::errc() && end == text.data() + text.size();
}

// The label as a number; with class names, the id of the name.
Result<std::string> label_number(const std::string& label, const record::ClassNames& classes) {
  // With names, a label must be one of them; a number could be a mistake.
  if (const auto id = classes.id(label)) return fmt::format("{}", *id);
  if (classes.size() > 0) {
    return Status(Code::kInvalidArgument,
                  fmt::format("class '{}' is not in the file of names", label));
  }
  if (is_integer(label)) return label;
  return Status(Code::kInvalidArgument,
                fmt::format("label '{}' is no number: give a file of class names "
                            "with --classes",
                            label));
}

Result<Entry> parse_entry(std::string_view line, const std::filesystem::path& folder,
                          const record::ClassNames& classes) {
  ECHOLINE_ASSIGN(const std::vector<std::string> fields, record::take_csv_row(line));
  if (fields.size() != 2 || fields[0].empty()) {
    return Status(Code::kInvalidArgument,
                  "a line is 'path,label'; a list with more columns can be read as it is "
                  "(format: files)");
  }
  ECHOLINE_ASSIGN(const std::string label, label_number(fields[1], classes));
  // Relative to the list, wherever the daemon runs.
  return Entry{(folder / fields[0]).string(), label};
}

// The headers that lists of format files have.
bool is_header(std::string_view line) { return line == "path,label" || line == "file_name,label"; }

Result<std::vector<Entry>> parse_list(std::string_view text, const std::string& csv,
                                      const record::ClassNames& classes) {
  const std::filesystem::path folder = std::filesystem::path(csv).parent_path();
  std::vector<Entry> entries;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    // Lines of Windows files.
    if (line.ends_with('\r')) line.remove_suffix(1);
    // A header only in the first line.
    if (line.empty() || (number == 1 && is_header(line))) continue;
    auto entry = parse_entry(line, folder, classes);
    if (!entry.ok()) return entry.status().with_context(fmt::format("{}:{}", csv, number));
    entries.push_back(std::move(*entry));
  }
  return entries;
}

}  // namespace

Result<std::unique_ptr<PackInput>> open_list_input(const PackOptions& options) {
  if (options.inputs.size() != 1) {
    return Status(Code::kInvalidArgument, "a list is one CSV file");
  }
  record::ClassNames classes;
  if (!options.classes.empty()) {
    ECHOLINE_ASSIGN(const std::string names, record::read_file(options.classes));
    auto parsed = record::ClassNames::from_text(names);
    if (!parsed.ok()) return parsed.status().with_context(options.classes);
    classes = std::move(*parsed);
  }
  ECHOLINE_ASSIGN(const std::string text, record::read_file(options.inputs[0]));
  ECHOLINE_ASSIGN(std::vector<Entry> entries, parse_list(text, options.inputs[0], classes));
  return std::unique_ptr<PackInput>(std::make_unique<ListInput>(std::move(entries)));
}

}  // namespace echoline::cli
