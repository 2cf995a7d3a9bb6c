// Socket activation: the door's socket if the service manager (systemd) has opened it.
#pragma once

#include <string>

#include "base/status.h"
#include "base/unique_fd.h"

namespace echoline::serve {

// Whether this process was started with a socket named "door" ($LISTEN_PID, $LISTEN_FDS,
// $LISTEN_FDNAMES; FileDescriptorName=door in the unit). A single socket needs no name. The socket
// outlives this daemon, with the connections in its queue.
bool door_is_inherited();

// A non-blocking descriptor of that socket. kFailedPrecondition if it does not listen at `path`, or
// has another type. Only if door_is_inherited().
Result<UniqueFd> inherited_door(const std::string& path);

}  // namespace echoline::serve
