// The file in which seek indexes outlive the daemon: a header, then entries, only appended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"
#include "seek/entry.h"

namespace echoline::seek {

// One thread. What it reads was written by this program for this data set, or is left out: the
// header and every entry have a check of their own. Nothing is synced, so entries can be lost in a
// crash; a torn one ends the log, and is overwritten.
class Log {
 public:
  // Opens or creates the file and its folder. `identity` is that of the data set: a file of another
  // one is emptied. kUnavailable: another process or stream uses the file.
  static Result<Log> open(const std::string& path, std::uint64_t identity);

  // Calls `take`(entry) for each entry, until it returns false. Once, before `append`.
  Status read(const std::function<bool(std::span<const std::byte>)>& take);
  // Writes whole entries behind the last one that was read or written.
  Status append(std::span<const std::byte> entries);

 private:
  Log(UniqueFd fd, std::uint64_t identity) : fd_(std::move(fd)), identity_(identity) {}
  Status check_header(const std::string& path);

  UniqueFd fd_;  // with a lock of the file
  std::uint64_t identity_ = 0;
  std::uint64_t end_ = 0;
};

// Removes other logs in the folder of `own_path`, except those in use: first those that were not
// opened for the longest time, until the ones that stay have at most `bytes_max` bytes.
void remove_unused_logs(const std::string& own_path, std::uint64_t bytes_max);

}  // namespace echoline::seek
