// The daemon's folders: made with tight modes, refused when others could have put something there.
#pragma once

#include <string>
#include <utility>

#include "base/status.h"
#include "base/unique_fd.h"

namespace echoline::serve {

// The runtime folder while a daemon works in it: locked, so that of two daemons started at once one
// is told so. The lock is the kernel's and ends with the process, however that ends.
class RuntimeDir {
 public:
  // Made with its parents where it is missing: mode 0750 when made by root, 0700 otherwise. One
  // that is there must belong to this user (or root) and not be writable by everybody: what it
  // holds is trusted. A folder that another daemon works in is kAlreadyExists.
  static Result<RuntimeDir> open(const std::string& path);

 private:
  explicit RuntimeDir(UniqueFd lock) : lock_(std::move(lock)) {}
  UniqueFd lock_;
};

// Made with its parents, mode 0750; must be writable.
Status make_state_dir(const std::string& path);

}  // namespace echoline::serve
