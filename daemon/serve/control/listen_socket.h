// Listening TCP sockets.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"

namespace echoline::serve {

// A non-blocking listener. `address` is "host:port" or "[::1]:port"; port 0 means any free one.
// `key` names the setting in errors. kAlreadyExists: the address is in use.
Result<UniqueFd> listen_tcp(const std::string& key, const std::string& address);
// The port that it got; 0 if unknown.
std::uint16_t port_of(int listener);

}  // namespace echoline::serve
