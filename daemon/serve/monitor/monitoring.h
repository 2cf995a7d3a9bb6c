// Serves the status page, /status.json, /metrics, /healthz and /readyz over HTTP.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "engine/api/engine.h"
#include "serve/monitor/control_counts.h"
#include "serve/monitor/http.h"
#include "serve/monitor/preparation_counts.h"
#include "serve/process/kept_streams.h"

namespace echoline::serve {

// The parts of the daemon that monitoring reads. They outlive the server; any thread may call them.
struct Monitored {
  const engine::Engine* engine = nullptr;
  const KeptStreams* kept = nullptr;
  std::function<std::size_t()> connections;
  const std::atomic<bool>* draining = nullptr;
  std::function<ControlCounts()> control = [] { return ControlCounts(); };
  // Nothing: this daemon is no preparation server.
  std::function<std::optional<PreparationCounts>()> preparation = [] {
    return std::optional<PreparationCounts>();
  };
};

// /healthz replies 200 while the process works. /readyz replies 200 if every stream is ready (or
// drained by its operator) and the daemon is not draining, else 503 with the reason. / is a page
// that shows /status.json. `address` as daemon.metrics, except for "off".
Result<std::unique_ptr<HttpServer>> open_monitoring(const std::string& address,
                                                    const Monitored& monitored);

}  // namespace echoline::serve
