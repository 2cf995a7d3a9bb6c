// Checks how the values of `daemon.control` fit together.
#pragma once

#include <string_view>

#include "base/status.h"
#include "config/source_locations.h"
#include "echoline/v1/config.pb.h"

namespace echoline::config {

// Whether the text has the form host:port with a port up to 65535. The host is not looked up.
bool is_address(std::string_view text);

// Whether an entry of operators or readers means certificates: CN=, DNS:, URI: or email: and a
// value. All other entries mean users of this host.
bool names_certificate(std::string_view entry);

// If `listen` is set, all files of mutual TLS must be set too, and somebody must have access.
Status check_control(const v1::ControlAccess& control, const SourceLocations& locations);

// Addresses, and all files of TLS that belong together.
Status check_etcd(const v1::Etcd& etcd, const SourceLocations& locations);

}  // namespace echoline::config
