// docs/metrics.md lists what the daemon exports. ECHOLINE_UPDATE_DOCS=1 writes it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "serve/monitor/metric_list.h"

namespace echoline::serve {
namespace {

constexpr const char* kHead = R"(# Metrics

Read these numbers to see what limits a stream, what echo gives, and how storage, caches and memory do. The daemon serves
them at `/metrics` of `daemon.metrics` (default `127.0.0.1:9464`), in the text format of Prometheus: base units, `_total`
for counters, few labels. The series of a stream, a job or a trainer end when it is gone.

[monitoring.md](monitoring.md) describes scraping, rules, the dashboard and the status page. This page is generated from the
list in `daemon/serve/monitor/metric_list.h`, and a test compares them.

| metric | kind | labels | meaning |
|---|---|---|---|
)";

constexpr const char* kTail = R"(
## Reading them

* **Where does the time go?** `rate(echoline_consumer_wait_seconds_total[1m])` by `cause` is the share of its time that a
  trainer waits. The causes are: `fetch` (storage), `prep` (decoding and augmentation), `publish` (the last step of the
  daemon), `peer` (a slower job or rank) and `daemon` (the daemon was not running).
  `echoline_fetch_wait_seconds_total`, `echoline_endpoint_wait_seconds_total` and `echoline_step_wait_seconds_total` say
  where in fetch and prep. While the rows of its batch are prepared, a wait counts for `fetch` or `peer` if that holds up
  the batch behind it: faster workers would only move the wait there.
* **What do the stages do?** `echoline_stage_seconds_total`: `fetch` is busy while records are requested from storage,
  also while it only waits for the answers; `prep` while workers make rows, summed over the workers; `publish` in the
  moment in which a complete batch is handed to the trainers. A stage is blocked while all slots have batches that a
  trainer has not released, else starved. A stage that is nearly always busy is the limit.
* **Are single batches late?** `histogram_quantile(0.99, sum by (le, consumer)
  (rate(echoline_consumer_batch_wait_seconds_bucket[5m])))` is a wait that one batch in 100 exceeds. A mean hides it: one late
  batch stops all ranks. `echoline_row_seconds` says the same of the time of a row.
* **Would echo help?** When `echoline_upstream_downstream_ratio` (R) is above 1, the part before the echo point is slower
  than the part after it. Up to R uses of each record cost no time.
* **What does echo give now?** `rate(echoline_samples_total{kind="fresh"}[1m])` is the rate of fresh data.
  `sum without (kind) (rate(echoline_samples_total[1m]))` is the rate that trainers get.
* **Why is storage slow?** `echoline_source_request_seconds` is the time that the store needs for an answer.
  `rate(echoline_source_wait_seconds_total[1m])` by `reason` is the mean number of requests that wait before they are sent,
  and the reason ([transfers.md](transfers.md)). When `rate(echoline_source_hedged_total{outcome="won"}[5m])` is clearly
  above zero, single answers are late.
* **Is memory at its limit?** `echoline_memory_reserved_bytes / echoline_memory_budget_bytes` can be near 1 without a problem:
  the daemon keeps decoded samples as long as the budget has room. `process_resident_memory_bytes` should be above the budget
  only by the size of code and tables.

`/healthz` answers 200 while the process works. `/readyz` answers 200 when every stream is ready. It answers 503 with the
reason while a stream is not ready, or while the daemon drains.
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

TEST(MetricsPage, EqualsTheListInTheCode) {
  const std::string path = ECHOLINE_SOURCE_DIR "/docs/metrics.md";
  if (std::getenv("ECHOLINE_UPDATE_DOCS") != nullptr) std::ofstream(path) << page();
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), page()) << "run serve_test with ECHOLINE_UPDATE_DOCS=1";
}

}  // namespace
}  // namespace echoline::serve
