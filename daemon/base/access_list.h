// A list of users and groups of this host, as in `publish.access` and `daemon.control`.
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
  // Users are names or numbers, groups "group:NAME" or "group:NUMBER". They are looked up on this
  // host now; an unknown name is an error that names `key`.
  static Result<AccessList> parse(const std::string& key, const std::vector<std::string>& entries);

  bool empty() const { return users_.empty() && groups_.empty(); }
  // Whether the list has the peer's user or one of its groups.
  bool names(const Peer& peer) const;

 private:
  std::vector<uid_t> users_;
  std::vector<gid_t> groups_;
};

// Whether the peer is root or the daemon's user. They have all rights: they can read the daemon's
// memory in any case.
bool is_own(const Peer& peer);

}  // namespace echoline
