// The door's place in the file system: the listening socket, and the lock that says whose it is.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/status.h"
#include "base/unique_fd.h"

namespace echoline::serve {

// Holds PATH.lock locked while it lives, so that of two daemons started at once exactly one gets
// the path. What a killed daemon left is taken over: its lock is gone with it. Removes both files
// at its end; a socket that the service manager opened (door_inherited.h) stays.
class DoorAddress {
 public:
  static Result<DoorAddress> take(const std::string& path);
  DoorAddress(DoorAddress&& other) noexcept;
  DoorAddress& operator=(DoorAddress&&) = delete;
  ~DoorAddress();

  int listener() const { return listener_.get(); }
  // The service manager's: who comes while no daemon listens waits there for the next one.
  bool outlives_daemon() const { return !bound_; }

 private:
  DoorAddress() = default;
  Status listen_at(const std::string& path);

  std::string path_;  // empty: moved away
  UniqueFd lock_;
  UniqueFd listener_;
  bool bound_ = false;
  dev_t device_ = 0;  // of the socket, to remove no other's
  ino_t inode_ = 0;
};

}  // namespace echoline::serve
