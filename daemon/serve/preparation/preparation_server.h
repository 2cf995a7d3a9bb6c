// The address where other hosts ask for samples: gRPC over mutual TLS. Each call is authorized
// before its handler runs.
#pragma once

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "echoline/v1/config.pb.h"
#include "engine/api/engine.h"
#include "serve/monitor/preparation_counts.h"

namespace echoline::serve {

// One thread opens and destroys it; any thread may call the other functions. An interface, so that
// gRPC stays out of this header.
class PreparationServer {
 public:
  // Reads the files of `settings`, which have an address, and listens. The engine outlives it.
  static Result<std::unique_ptr<PreparationServer>> open(const v1::Serve& settings,
                                                         engine::Engine& engine);
  virtual ~PreparationServer() = default;

  // Answers nothing any more. Running calls are cancelled: their hosts ask other servers.
  virtual void stop() = 0;

  virtual PreparationCounts counts() const = 0;
  virtual std::uint16_t port() const = 0;
};

}  // namespace echoline::serve
