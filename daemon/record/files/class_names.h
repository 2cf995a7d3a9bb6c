// Names of classes and their ids: line numbers of a file, or the sorted order of the names found.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "source/core/source.h"

namespace echoline::record {

// Immutable once built; any thread may read it.
class ClassNames {
 public:
  ClassNames() = default;
  // Sorted bytewise; duplicates count once.
  static ClassNames from_names(std::vector<std::string> names);
  // One name per line, "name" or "NUMBER name" if every line begins with its own number. Empty
  // lines at the end are ignored. kInvalidArgument for a repeated name.
  static Result<ClassNames> from_text(std::string_view text);

  std::optional<std::uint32_t> id(std::string_view name) const;
  const std::string& name(std::uint32_t id) const { return names_[id]; }
  std::size_t size() const { return names_.size(); }
  // One name per line.
  std::string text() const;

 private:
  Status add(std::string_view name);

  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t, std::less<>> ids_;
};

// Reads the names from the file `url` (read.classes); errors contain the file's name.
Result<ClassNames> read_classes(const std::string& url, source::Source& source);

}  // namespace echoline::record
