// The door's socket where the service manager opened it: systemd's socket activation, without its
// library.
#pragma once

#include <string>

#include "base/status.h"
#include "base/unique_fd.h"

namespace echoline::serve {

// Whether this process was started with a socket named "door" (FileDescriptorName=door, or the only
// one where none has a name): $LISTEN_PID, $LISTEN_FDS, $LISTEN_FDNAMES. It then outlives this
// daemon, with those who wait at it.
bool door_is_inherited();

// A descriptor of that socket, never blocking. kFailedPrecondition if it does not listen at `path`,
// or not as a door does. Only where door_is_inherited().
Result<UniqueFd> inherited_door(const std::string& path);

}  // namespace echoline::serve
