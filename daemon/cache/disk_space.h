// The folder that disk caches share: one lock file, one cap for all, one folder per data set, and
// which of these are in use.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"
#include "cache/disk_file.h"

namespace echoline::cache {

// One user of one data set's folder; no daemon removes the folder while this exists. Any number of
// daemons may change files below the path, each only with the lock held. Not thread-safe.
class DiskSpace {
 public:
  // Creates the folders. `set` is 32 hex digits.
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
  // Removes folders of unused data sets, those with the oldest use first, until this data set can
  // have `bytes`.
  void make_room(std::uint64_t bytes) const;

 private:
  std::string path_;
  std::string folder_;
  std::uint64_t cap_bytes_ = 0;
  UniqueFd lock_;
  UniqueFd users_;  // with a shared lock on it
};

}  // namespace echoline::cache
