// The door's address: the listening socket, and the lock file that gives it to one daemon.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/status.h"
#include "base/unique_fd.h"

namespace echoline::serve {

// Owns the socket, and holds PATH.lock locked: of two daemons started at once exactly one gets the
// path. The kernel releases the lock of a killed daemon, so its files are taken over. The
// destructor removes both files, except a socket of the service manager (door_inherited.h). One
// thread.
class DoorAddress {
 public:
  // kAlreadyExists if another daemon serves the path.
  static Result<DoorAddress> take(const std::string& path);
  DoorAddress(DoorAddress&& other) noexcept;
  DoorAddress& operator=(DoorAddress&&) = delete;
  ~DoorAddress();

  int listener() const { return listener_.get(); }
  // True for the service manager's socket: connections made while no daemon runs wait in its queue
  // for the next one.
  bool outlives_daemon() const { return !bound_; }

 private:
  DoorAddress() = default;
  // Opens the daemon's own socket.
  Status listen_at(const std::string& path);

  std::string path_;  // empty: moved from
  UniqueFd lock_;
  UniqueFd listener_;
  bool bound_ = false;
  // Identify our socket file, so that the destructor removes no other.
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace echoline::serve
