// The control service: gRPC on a Unix socket and, if configured, over TLS, with the standard health
// and reflection services. Each call is authorized before its handler runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "echoline/v1/config.pb.h"
#include "serve/control/control_context.h"
#include "serve/monitor/control_counts.h"

namespace echoline::serve {

// One thread opens and destroys it; any thread may call the other functions. Calls run on gRPC's
// threads. An interface, so that gRPC stays out of this header.
class ControlServer {
 public:
  // Takes over the socket of a dead daemon; kAlreadyExists if a live daemon serves it. The socket's
  // mode is 0600, or 0666 if other users may call something: each call checks its user.
  static Result<std::unique_ptr<ControlServer>> open(const std::string& path,
                                                     const v1::ControlAccess& access,
                                                     const ControlContext& context);
  // Ends the calls that watch at once; other running calls get a second, then they are cancelled.
  // Removes the socket.
  virtual ~ControlServer() = default;

  // The health service's answer, for the server and for each service. At first NOT_SERVING.
  virtual void set_serving(bool serving) = 0;
  virtual ControlCounts counts() const = 0;
  virtual std::uint16_t tls_port() const = 0;  // 0: no TLS
};

}  // namespace echoline::serve
