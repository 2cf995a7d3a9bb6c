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
Prometheus: base units, `_total` for counters, few labels. The series of a stream, a job or a trainer end with it. This
page is generated from the list in `daemon/serve/monitor/metric_list.h`. [Monitoring](monitoring.md) explains scraping,
rules, the dashboard and the status page.

| metric | kind | labels | meaning |
|---|---|---|---|
)";

constexpr const char* kTail = R"(
## Reading them

* Why do trainers wait? `rate(echoline_consumer_wait_seconds_total[1m])` is the share of its time that a trainer waits,
  by `cause`: `fetch` is storage, `prep` is decoding and augmenting, `publish` is the daemon's last step, `peer` is a
  slower job or rank, `daemon` is a daemon that was away.
* Would echo help? If `echoline_upstream_downstream_ratio` is above 1, the steps before the echo point are slower than
  the steps after it, and uses up to that number cost no time.
* What does echo give now? `rate(echoline_samples_total{kind="fresh"}[1m])` is the rate of fresh data,
  `sum without (kind) (rate(echoline_samples_total[1m]))` is the rate that trainers get.
* Why is storage slow? `echoline_source_request_seconds` is the time of the store itself.
  `rate(echoline_source_wait_seconds_total[1m])` is the mean number of requests that wait before they are sent, by
  `reason`; [transfers.md](transfers.md) explains them. If `rate(echoline_source_hedged_total{outcome="won"}[5m])` is not
  near zero, single answers are late.
* Is memory at its limit? `echoline_memory_reserved_bytes / echoline_memory_budget_bytes` can be near 1 without harm:
  decoded samples use what the budget allows. `process_resident_memory_bytes` should exceed the budget only by the size
  of code and tables.

`/healthz` replies 200 while the process works. `/readyz` replies 200 when every stream is ready, else 503 with the
reason, also while the daemon drains.
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
