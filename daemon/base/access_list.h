// Users and groups of this host, as a configuration names them: `publish.access`, `daemon.control`.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/peer.h"
#include "base/status.h"

namespace echoline {

// Immutable.
class AccessList {
 public:
  // Users by name or number, groups as "group:NAME" or "group:NUMBER", resolved on this host now:
  // an unknown name is an error, which names `key`.
  static Result<AccessList> parse(const std::string& key, const std::vector<std::string>& entries);

  bool empty() const { return users_.empty() && groups_.empty(); }
  // By its user or one of its groups.
  bool names(const Peer& peer) const;

 private:
  std::vector<uid_t> users_;
  std::vector<gid_t> groups_;
};

// Root and the daemon's own user may do everything: they can read its memory anyhow.
bool is_own(const Peer& peer);

}  // namespace echoline
