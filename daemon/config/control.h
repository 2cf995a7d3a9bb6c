// How the values of `daemon.control` fit together.
#pragma once

#include <string_view>

#include "base/status.h"
#include "config/source_locations.h"
#include "echoline/v1/config.pb.h"

namespace echoline::config {

// host:port, the port a number up to 65535; the host is not looked up.
bool is_address(std::string_view text);

// Whether an entry of operators or readers means certificates: CN=, DNS:, URI: or email: and a
// value. Any other means users of this host.
bool names_certificate(std::string_view entry);

// An address has all that mutual TLS needs, and somebody who may use it.
Status check_control(const v1::ControlAccess& control, const SourceLocations& locations);

}  // namespace echoline::config
