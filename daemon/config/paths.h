// The default folders of the daemon. Both functions only read environment variables.
#pragma once

#include <string>

namespace echoline::config {

// $ECHOLINE_RUNTIME_DIR, as for trainers; else $XDG_RUNTIME_DIR/echoline; else /run/echoline for
// root, /tmp/echoline-UID for others.
std::string default_runtime_dir();
// $STATE_DIRECTORY (systemd); else /var/lib/echoline for root, $XDG_STATE_HOME/echoline or
// ~/.local/state/echoline for others.
std::string default_state_dir();

}  // namespace echoline::config
