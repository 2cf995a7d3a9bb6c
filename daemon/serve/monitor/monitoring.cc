// Each request takes one snapshot of the engine's counters, so its numbers belong together.
#include "serve/monitor/monitoring.h"

#include <chrono>
#include <map>
#include <string>

#include "base/log.h"
#include "serve/monitor/all_stats.h"
#include "serve/monitor/metrics.h"
#include "serve/monitor/status_json.h"
#include "serve/monitor/status_page.h"

namespace echoline::serve {
namespace {

// Only this machine can reach it: the page needs no password.
constexpr const char* kUsualAddress = "127.0.0.1:9464";
constexpr const char* kFreePort = "127.0.0.1:0";
constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

HttpReply not_ready(const std::string& reason) { return {.status = 503, .body = reason + "\n"}; }

engine::EngineStats stats_of(const Monitored& monitored) {
  return all_stats(*monitored.engine, *monitored.kept);
}

DaemonStats daemon_stats(const Monitored& monitored) {
  return {.connections = monitored.connections(),
          .draining = *monitored.draining,
          .control = monitored.control(),
          .preparation = monitored.preparation(),
          .process = process_stats()};
}

HttpReply readiness(const Monitored& monitored) {
  // First: a draining daemon takes no trainers, whatever its streams are.
  if (*monitored.draining) return not_ready("draining");
  for (const engine::StreamStats& stream : stats_of(monitored).streams) {
    // A drained stream is what its operator wanted.
    if (stream.state == "ready" || stream.state == "drained") continue;
    return not_ready("stream " + stream.name + " is " + stream.state +
                     (stream.error.empty() ? "" : ": " + stream.error));
  }
  return {.body = "ready\n"};
}

HttpReply metrics(const Monitored& monitored) {
  return {.content_type = kMetricsType,
          .body = metrics_text(stats_of(monitored), daemon_stats(monitored))};
}

HttpReply status(const Monitored& monitored) {
  const engine::EngineStats stats = stats_of(monitored);
  std::map<std::string, std::string> configs;
  for (const engine::StreamStats& stream : stats.streams) {
    const Result<v1::Stream> definition = monitored.engine->definition(stream.name);
    // Not ok while the stream is being opened, or if it was deleted since.
    if (definition.ok()) configs[stream.name] = shown_config(*definition);
  }
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  return {.content_type = "application/json",
          .body = status_json(stats, daemon_stats(monitored), configs, now.count())};
}

HttpReply page(const Monitored& monitored) {
  return {.content_type = "text/html; charset=utf-8",
          .body = status_page(status_text(stats_of(monitored))),
          .policy = status_page_policy()};
}

}  // namespace

Result<std::unique_ptr<HttpServer>> open_monitoring(const std::string& address,
                                                    const Monitored& monitored) {
  HttpHandlers handlers;
  handlers["/"] = [monitored] { return page(monitored); };
  handlers["/status.json"] = [monitored] { return status(monitored); };
  handlers["/metrics"] = [monitored] { return metrics(monitored); };
  handlers["/healthz"] = [] { return HttpReply{.body = "ok\n"}; };
  handlers["/readyz"] = [monitored] { return readiness(monitored); };
  // A configured address is taken as it is, or is an error.
  if (address != "auto") return HttpServer::open(address, std::move(handlers));
  Result<std::unique_ptr<HttpServer>> usual = HttpServer::open(kUsualAddress, handlers);
  // Only an address in use leads to another port.
  if (usual.ok() || usual.status().code() != Code::kAlreadyExists) return usual;
  ECHOLINE_ASSIGN(auto other, HttpServer::open(kFreePort, std::move(handlers)));
  log_warning("main", "{} is in use, so metrics and the status page are at {}", kUsualAddress,
              other->address());
  return other;
}

}  // namespace echoline::serve
