// Who may attach to a stream: `publish.access`.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/status.h"
#include "engine/attach.h"

namespace echoline::engine {

// Immutable.
class AccessList {
 public:
  // Users by name or number, groups as "group:NAME" or "group:NUMBER", resolved on this host now:
  // an unknown name is an error. Nothing named: whoever reaches the door.
  static Result<AccessList> parse(const std::vector<std::string>& entries);

  // Root and the daemon's own user always may: they can read its memory anyhow.
  bool admits(const Peer& peer) const;

 private:
  bool is_open_ = true;
  std::vector<uid_t> users_;
  std::vector<gid_t> groups_;
};

}  // namespace echoline::engine
