// Reports the daemon's state to the service manager (systemd's notification protocol, sd_notify).
#pragma once

#include <string_view>

namespace echoline::serve {

// Sends "READY=1", "STOPPING=1", ... to $NOTIFY_SOCKET; no effect if that is not set.
void notify_supervisor(std::string_view state);

}  // namespace echoline::serve
