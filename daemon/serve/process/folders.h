// The daemon's folders: created with tight modes, and refused if other users could write to them.
#pragma once

#include <string>
#include <utility>

#include "base/status.h"
#include "base/unique_fd.h"

namespace echoline::serve {

// Holds the runtime folder locked while it lives, so that only one daemon uses it. It is a kernel
// lock (flock), which ends with the process.
class RuntimeDir {
 public:
  // Creates the folder and its parents if missing, with mode 0750 for root, else 0700. An existing
  // folder must belong to this user or root and not be writable by everybody, because its content
  // is trusted. Waits up to 10 s for another daemon that uses it; then
  // kAlreadyExists.
  static Result<RuntimeDir> open(const std::string& path);

 private:
  explicit RuntimeDir(UniqueFd lock) : lock_(std::move(lock)) {}
  UniqueFd lock_;
};

// Creates the folder and its parents if missing, with mode 0750. It must be readable; if it is not
// writable, the log says what that means.
Status make_state_dir(const std::string& path);

}  // namespace echoline::serve
