// docs/metrics.md is generated from the list of metrics. ECHOLINE_UPDATE_DOCS=1 writes it again.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "serve/monitor/metric_list.h"

namespace echoline::serve {
namespace {

constexpr const char* kHead = R"(# Metrics

The daemon serves these at `/metrics` of `daemon.metrics` (default `127.0.0.1:9464`), in the text format of
Prometheus: base units, `_total` for counters, few labels. Series of a stream, a job or a trainer vanish when it is
gone. This page is made from the list in `daemon/serve/metric_list.h` and a test compares them. Scraping, rules, dashboard and
the status page are in [monitoring.md](monitoring.md).

| metric | kind | labels | meaning |
|---|---|---|---|
)";

constexpr const char* kTail = R"(
## Reading them

* Where does the time go? `rate(echoline_consumer_wait_seconds_total[1m])` by `cause` is the share of its time
  that a trainer waits, by who is to blame: `fetch` is storage, `prep` is decoding and augmenting, `publish` is the
  daemon's last step, `peer` is another job or rank that is slower, `daemon` is a daemon that was away.
* Would echo help? `echoline_upstream_downstream_ratio` above 1 says that what stands before the echo point is slower
  than what stands behind it; uses up to that number cost no time.
* What does echo give now? `rate(echoline_samples_total{kind="fresh"}[1m])` is fresh data,
  `sum without (kind) (rate(echoline_samples_total[1m]))` is what trainers get.
* Why is storage slow? `echoline_source_request_seconds` is how long the store itself takes.
  `rate(echoline_source_wait_seconds_total[1m])` by `reason` is how many requests, in the mean, were not even under
  way, and why; [transfers.md](transfers.md) says what happens then. Where
  `rate(echoline_source_hedged_total{outcome="won"}[5m])` is not near zero, single answers come late.
* Is memory at its limit? `echoline_memory_reserved_bytes / echoline_memory_budget_bytes` may be near 1 without harm: decoded
  samples are kept as far as the budget goes. `process_resident_memory_bytes` should not exceed the budget by more than what code and
  tables need.

`/healthz` answers 200 while the process works. `/readyz` answers 200 when every stream is ready, and 503 with the
reason while one is not, or while the daemon drains.
)";

std::string labels_text(std::string_view labels) {
  std::string text;
  for (const char c : labels) text += c == ',' ? std::string("`, `") : std::string(1, c);
  return text.empty() ? "" : "`" + text + "`";
}

std::string kind_text(MetricKind kind) {
  if (kind == MetricKind::kHistogram) return "histogram";
  return kind == MetricKind::kCounter ? "counter" : "gauge";
}

std::string page() {
  std::string text = kHead;
  for (const MetricInfo& metric : kMetrics) {
    text += "| `" + std::string(metric.name) + "` | " + kind_text(metric.kind()) + " | " +
            labels_text(metric.labels) + " | " + std::string(metric.help) + " |\n";
  }
  return text + kTail;
}

TEST(MetricsPage, equals_the_list_in_the_code) {
  const std::string path = ECHOLINE_SOURCE_DIR "/docs/metrics.md";
  if (std::getenv("ECHOLINE_UPDATE_DOCS") != nullptr) std::ofstream(path) << page();
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), page()) << "run serve_test with ECHOLINE_UPDATE_DOCS=1";
}

}  // namespace
}  // namespace echoline::serve
