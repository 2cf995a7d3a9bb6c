// Each request takes one snapshot of the engine's counters.
#include "serve/monitoring.h"

#include "serve/metrics.h"

namespace echoline::serve {
namespace {

constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

HttpReply not_ready(const std::string& reason) {
  return {503, "text/plain; charset=utf-8", reason + "\n"};
}

HttpReply readiness(const Monitored& monitored) {
  if (*monitored.draining) return not_ready("draining");
  for (const engine::StreamStats& stream : monitored.engine->stats().streams) {
    if (stream.state == "ready" || stream.state == "drained") continue;
    return not_ready("stream " + stream.name + " is " + stream.state +
                     (stream.error.empty() ? "" : ": " + stream.error));
  }
  return {200, "text/plain; charset=utf-8", "ready\n"};
}

}  // namespace

Result<std::unique_ptr<HttpServer>> open_monitoring(const std::string& address,
                                                    const Monitored& monitored) {
  HttpHandlers handlers;
  handlers["/metrics"] = [monitored] {
    return HttpReply{200, kMetricsType,
                     metrics_text(monitored.engine->stats(), monitored.connections())};
  };
  handlers["/healthz"] = [] { return HttpReply{200, "text/plain; charset=utf-8", "ok\n"}; };
  handlers["/readyz"] = [monitored] { return readiness(monitored); };
  return HttpServer::open(address, std::move(handlers));
}

}  // namespace echoline::serve
