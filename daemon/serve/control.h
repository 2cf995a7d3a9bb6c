// The control service on a Unix socket: gRPC, with the standard health and reflection services.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "serve/controlled.h"

namespace echoline::serve {

// Opened and destroyed by one thread; calls come in on gRPC's own.
class ControlServer {
 public:
  // Takes over the socket of a dead daemon; that of a living one is kAlreadyExists. Mode 0660.
  static Result<std::unique_ptr<ControlServer>> open(const std::string& path,
                                                     const Controlled& controlled);
  // Watchers are told at once; other calls under way get a second to end, then are cancelled. The
  // socket is removed.
  virtual ~ControlServer() = default;
};

}  // namespace echoline::serve
