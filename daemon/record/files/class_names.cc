// Parsing accepts Windows line ends. Nothing else is stripped, because names may contain blanks.
#include "record/files/class_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "record/index/listing.h"

namespace echoline::record {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

// Whether each line starts with its own number, "NUMBER " or "NUMBER\t", from 0.
bool is_numbered(const std::vector<std::string_view>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string number = fmt::format("{}", i);
    if (lines[i].size() < number.size() + 2 || !lines[i].starts_with(number)) return false;
    if (lines[i][number.size()] != ' ' && lines[i][number.size()] != '\t') return false;
  }
  return true;
}

}  // namespace

std::string ClassNames::text() const {
  std::string text;
  for (const std::string& name : names_) text.append(name).push_back('\n');
  return text;
}

Status ClassNames::add(std::string_view name) {
  const auto id = static_cast<std::uint32_t>(names_.size());
  if (!ids_.emplace(name, id).second) {
    return Status(Code::kInvalidArgument, fmt::format("class '{}' is named twice", name));
  }
  names_.emplace_back(name);
  return {};
}

ClassNames ClassNames::from_names(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  ClassNames classes;
  for (const std::string& name : names) (void)classes.add(name);  // cannot fail: names are unique
  return classes;
}

Result<ClassNames> ClassNames::from_text(std::string_view text) {
  const std::vector<std::string_view> lines = lines_of(text);
  const bool numbered = is_numbered(lines);
  ClassNames classes;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string_view name = lines[i];
    if (numbered) name.remove_prefix(fmt::format("{} ", i).size());
    if (name.empty()) {
      return Status(Code::kInvalidArgument, fmt::format("line {} names no class", i + 1));
    }
    ECHOLINE_TRY(classes.add(name));
  }
  if (classes.size() == 0) return Status(Code::kInvalidArgument, "no class names");
  return classes;
}

std::optional<std::uint32_t> ClassNames::id(std::string_view name) const {
  const auto found = ids_.find(name);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

Result<ClassNames> read_classes(const std::string& url, source::Source& source) {
  auto text = read_text(url, source);
  if (!text.ok()) return std::move(text).status().with_context("read.classes " + url);
  auto classes = ClassNames::from_text(*text);
  if (!classes.ok()) return std::move(classes).status().with_context("read.classes " + url);
  return classes;
}

}  // namespace echoline::record
