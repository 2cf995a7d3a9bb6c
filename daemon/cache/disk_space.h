// The folder that disk caches share: one lock, a byte cap over all, a folder for each data set, and
// which of those are in use.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"
#include "cache/disk_file.h"

namespace echoline::cache {

// One user of one data set's folder, which nobody removes while this lives. Whatever changes the
// files below the path does so under its lock; any number of daemons may. Not thread safe.
class DiskSpace {
 public:
  // Makes the folders. `set` is 32 hex digits.
  static Result<DiskSpace> open(const std::string& path, const std::string& set,
                                std::uint64_t cap_bytes);

  const std::string& folder() const { return folder_; }
  std::uint64_t cap_bytes() const { return cap_bytes_; }
  int lock_fd() const { return lock_.get(); }

  // With the lock held:
  // ----------------------------------------------------------------------------

  // True if no other daemon or stream uses this data set's folder.
  bool alone() const;
  // Bytes in the folders of other data sets.
  std::uint64_t used_by_others() const;
  // Removes the folders of data sets that nobody uses, the longest unused first, as long as less
  // than `bytes` would be left for this one.
  void make_room(std::uint64_t bytes) const;

 private:
  std::string path_;
  std::string folder_;
  std::uint64_t cap_bytes_ = 0;
  UniqueFd lock_;
  UniqueFd users_;  // with a shared lock on it
};

}  // namespace echoline::cache
