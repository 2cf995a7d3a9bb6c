// Tells the service manager how the daemon is doing: systemd's notification protocol, without its
// library.
#pragma once

#include <string_view>

namespace echoline::serve {

// Sends "READY=1", "STOPPING=1", ... to $NOTIFY_SOCKET; does nothing where there is none.
void notify_supervisor(std::string_view state);

}  // namespace echoline::serve
