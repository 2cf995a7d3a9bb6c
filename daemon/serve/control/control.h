// The control service: gRPC on a Unix socket, and over TLS where the configuration says so, with
// the standard health and reflection services. Who may call what is decided before each call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "echoline/v1/config.pb.h"
#include "serve/control/control_context.h"
#include "serve/monitor/control_counts.h"

namespace echoline::serve {

// Opened and destroyed by one thread, the rest is for any; calls come in on gRPC's own.
class ControlServer {
 public:
  // Takes over the socket of a dead daemon; that of a living one is kAlreadyExists. Mode 0600, or
  // 0666 where other users may do something: who they are is checked at each call.
  static Result<std::unique_ptr<ControlServer>> open(const std::string& path,
                                                     const v1::ControlAccess& access,
                                                     const ControlContext& controlled);
  // Watchers are told at once; other calls under way get a second to end, then are cancelled. The
  // socket is removed.
  virtual ~ControlServer() = default;

  // What the health service says, of the whole and of each service; NOT_SERVING at first.
  virtual void set_serving(bool serving) = 0;
  virtual ControlCounts counts() const = 0;
  virtual std::uint16_t tls_port() const = 0;  // 0: none
};

}  // namespace echoline::serve
