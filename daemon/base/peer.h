// The process at the other end of a Unix socket.
#pragma once

#include <sys/types.h>

#include <vector>

namespace echoline {

// From the kernel (SO_PEERCRED, SO_PEERGROUPS), at the time of the connect.
struct Peer {
  uid_t uid = 0;
  gid_t gid = 0;
  pid_t pid = 0;              // 0: in another PID namespace
  std::vector<gid_t> groups;  // supplementary
};

}  // namespace echoline
