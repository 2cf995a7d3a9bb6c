// TCP sockets that listen.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"

namespace echoline::serve {

// Non-blocking. "host:port", "[::1]:port", port 0 for a free one. `key` names the setting in
// errors; an address in use is kAlreadyExists.
Result<UniqueFd> listen_tcp(const std::string& key, const std::string& address);
std::uint16_t port_of(int listener);

}  // namespace echoline::serve
