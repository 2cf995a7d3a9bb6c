#include "cache/fleet_address.h"

#include <fmt/format.h>

#include <charconv>

namespace echoline::cache {

Result<FleetServer> parse_fleet_server(const std::string& text) {
  // The last colon: an IPv6 address contains others.
  const std::size_t colon = text.rfind(':');
  FleetServer server;
  if (colon != std::string::npos && colon > 0) {
    server.host = text.substr(0, colon);
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, server.port);
    if (error == std::errc() && rest == end && server.port > 0) return server;
  }
  return Status(Code::kInvalidArgument,
                fmt::format("cache.fleet: '{}' is no address; allowed: host:port", text));
}

}  // namespace echoline::cache
