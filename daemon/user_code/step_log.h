// What users' functions do wrong and print, in the daemon's log, bounded.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/mutex.h"

namespace echoline::user_code {

// Any thread.
class StepLog {
 public:
  // `step`: python or plugin, the origin of the lines.
  StepLog(const char* step, std::string file) : step_(step), file_(std::move(file)) {}

  // Logs the first failure of each group, with its details: several lines.
  void failed(const std::string& group, std::string_view summary, std::string_view details)
      ECHOLINE_EXCLUDES(mutex_);
  // Logs what a worker has written to its standard output and error, up to a number of lines.
  void wrote(std::string_view text) ECHOLINE_EXCLUDES(mutex_);

 private:
  // The number of lines that may still be logged, less `wanted`.
  bool take_line() ECHOLINE_EXCLUDES(mutex_);

  const char* const step_;
  const std::string file_;
  Mutex mutex_;  // no other lock is taken under it
  std::set<std::string> groups_ ECHOLINE_GUARDED_BY(mutex_);
  int lines_left_ ECHOLINE_GUARDED_BY(mutex_) = 200;
};

// The text without control characters, except for ends of lines and tabs: a log may be read in a
// terminal.
std::string printable(std::string_view text);

}  // namespace echoline::user_code
