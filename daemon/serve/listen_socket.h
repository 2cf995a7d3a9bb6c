// Stream sockets that listen.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"

namespace echoline::serve {

// Non-blocking. Takes over the socket of a dead daemon; that of a living one is kAlreadyExists.
// Nobody ever finds it with another mode than this.
Result<UniqueFd> listen_unix(const std::string& path, mode_t mode);

// "host:port", "[::1]:port", port 0 for a free one. `key` names the setting in errors; an address
// in use is kAlreadyExists.
Result<UniqueFd> listen_tcp(const std::string& key, const std::string& address);
std::uint16_t port_of(int listener);

}  // namespace echoline::serve
