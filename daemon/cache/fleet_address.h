// The address of a memcached server.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace echoline::cache {

struct FleetServer {
  std::string host;
  std::uint16_t port = 0;
};

// Parses "host:port".
Result<FleetServer> parse_fleet_server(const std::string& text);

}  // namespace echoline::cache
