// A file of entries that is only appended to.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"

namespace echoline::record {

// One thread. Each entry is appended with one system call, so that a killed process leaves at most
// one incomplete entry, at the end. Two processes may append to one file.
class EntryFile {
 public:
  // An empty path: nothing is kept.
  explicit EntryFile(std::string path) : path_(std::move(path)) {}

  // Passes the entries to `take` in the order in which they were added, up to the first one that is
  // incomplete or not taken. That one is removed, with all behind it.
  void load(const std::function<bool(std::span<const std::byte>)>& take) const;

  // A failure is logged once, with what it means; then nothing more is kept.
  void add(const std::string& body);
  void remove();

  bool keeps() const { return !path_.empty(); }

 private:
  Status append(const std::string& entry);

  std::string path_;
  UniqueFd file_;  // opened by the first add()
};

}  // namespace echoline::record
