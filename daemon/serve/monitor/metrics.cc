// Each scrape builds all families from one snapshot, so the series of a deleted stream disappear.
#include "serve/monitor/metrics.h"

#include <fmt/core.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <limits>
#include <map>
#include <sstream>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "serve/monitor/memory_use.h"
#include "serve/monitor/metric_list.h"
#include "serve/monitor/version.h"

namespace echoline::serve {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

std::vector<std::string> label_names(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    names.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return names;
}

MetricType type_of(MetricKind kind) {
  if (kind == MetricKind::kHistogram) return MetricType::Histogram;
  return kind == MetricKind::kCounter ? MetricType::Counter : MetricType::Gauge;
}

// Collects values by name. Aborts on a name, or a number of labels, that is not in the list.
class Families {
 public:
  // `labels` in the order of the list.
  void add(std::string_view name, const std::vector<std::string>& labels, double value) {
    const MetricInfo& info = info_of(name);
    ClientMetric metric = labelled(info, labels);
    const bool counter = info.kind() == MetricKind::kCounter;
    // Histograms have an add() of their own.
    ECHOLINE_CHECK(info.kind() != MetricKind::kHistogram);
    (counter ? metric.counter.value : metric.gauge.value) = value;
    keep(info, std::move(metric));
  }

  void add(std::string_view name, const std::vector<std::string>& labels, std::uint64_t value) {
    add(name, labels, static_cast<double>(value));
  }

  template <const auto& kBounds>
  void add(std::string_view name, const std::vector<std::string>& labels,
           const Histogram<kBounds>& times) {
    const MetricInfo& info = info_of(name);
    ECHOLINE_CHECK(info.kind() == MetricKind::kHistogram);
    ClientMetric metric = labelled(info, labels);
    ClientMetric::Histogram& histogram = metric.histogram;
    for (std::size_t i = 0; i < times.counts.size(); ++i) {
      // Prometheus' buckets are cumulative.
      histogram.sample_count += times.counts[i];
      // The last bucket takes everything above the bounds.
      const bool last = i == kBounds.size();
      histogram.bucket.push_back(
          {histogram.sample_count, last ? std::numeric_limits<double>::infinity() : kBounds[i]});
    }
    histogram.sample_sum = to_seconds(times.sum_ns);
    keep(info, std::move(metric));
  }

  std::string text() && {
    std::vector<MetricFamily> all;
    // Sorted by name, because the map is.
    for (auto& [name, family] : families_) all.push_back(std::move(family));
    std::ostringstream out;
    prometheus::TextSerializer().Serialize(out, all);
    return std::move(out).str();
  }

 private:
  static const MetricInfo& info_of(std::string_view name) {
    // Linear: a scrape is rare, and the list is short.
    const auto info = std::find_if(kMetrics.begin(), kMetrics.end(),
                                   [name](const MetricInfo& one) { return one.name == name; });
    ECHOLINE_CHECK(info != kMetrics.end());
    return *info;
  }

  static ClientMetric labelled(const MetricInfo& info, const std::vector<std::string>& labels) {
    const std::vector<std::string> names = label_names(info.labels);
    // A wrong number of labels is a bug, which a test finds.
    ECHOLINE_CHECK(names.size() == labels.size());
    ClientMetric metric;
    for (std::size_t i = 0; i < names.size(); ++i) metric.label.push_back({names[i], labels[i]});
    return metric;
  }

  void keep(const MetricInfo& info, ClientMetric metric) {
    MetricFamily& family = families_[std::string(info.name)];
    family.name = info.name;
    family.help = info.help;
    family.type = type_of(info.kind());
    family.metric.push_back(std::move(metric));
  }

  std::map<std::string, MetricFamily> families_;
};

// Only streams with users' code have these.
void add_user_code(const std::string& stream, const engine::UserCodeStats& code,
                   Families& families) {
  if (code.steps == 0) return;
  constexpr std::string_view kCalls = "echoline_python_calls_total";
  families.add(kCalls, {stream, "returned"}, code.returned);
  families.add(kCalls, {stream, "raised"}, code.raised);
  families.add(kCalls, {stream, "refused"}, code.refused);
  families.add(kCalls, {stream, "died"}, code.died);
  families.add(kCalls, {stream, "timeout"}, code.timed_out);
  families.add("echoline_python_chunks_repeated_total", {stream}, code.repeated);
  families.add("echoline_python_call_seconds_total", {stream}, to_seconds(code.ns));
  families.add("echoline_python_verdicts_kept", {stream}, code.verdicts);
  families.add("echoline_python_workers", {stream}, code.workers);
  families.add("echoline_python_workers_replaced_total", {stream}, code.replaced);
}

void add_control(const ControlCounts& control, Families& families) {
  families.add("echoline_control_calls_denied_total", {}, control.calls_denied);
  families.add("echoline_control_connections_refused_total", {}, control.refused);
  constexpr std::string_view kConnections = "echoline_control_connections";
  families.add(kConnections, {"unix"}, std::uint64_t{control.unix_connections});
  // Without TLS these series do not exist.
  if (!control.has_tls) return;
  families.add(kConnections, {"tls"}, std::uint64_t{control.tls_connections});
  constexpr std::string_view kReloads = "echoline_control_certificate_reloads_total";
  families.add(kReloads, {"ok"}, control.reloads_ok);
  families.add(kReloads, {"failed"}, control.reloads_failed);
  families.add("echoline_control_certificate_expiry_timestamp_seconds", {},
               static_cast<double>(control.certificate_not_after));
}

// `calls_answered` and the others are counted by the address, `busy` by the engine.
void add_serving(const PreparationCounts& counts, const engine::EngineStats& stats,
                 Families& families) {
  constexpr std::string_view kCalls = "echoline_serve_calls_total";
  const std::uint64_t known = counts.calls_answered + stats.served_refused;
  families.add(kCalls, {"answered"}, counts.calls_answered);
  families.add(kCalls, {"busy"}, stats.served_refused);
  families.add(kCalls, {"denied"}, counts.calls_denied);
  // Calls that are still running are in none of them.
  families.add(kCalls, {"other"}, counts.calls_ended - std::min(counts.calls_ended, known));
  families.add("echoline_serve_bytes", {}, stats.served_bytes_now);
  families.add("echoline_serve_bytes_limit", {}, stats.served_bytes_max);
  families.add("echoline_serve_connections", {}, counts.connections);
  families.add("echoline_serve_connections_refused_total", {}, counts.refused_connections);
  families.add("echoline_serve_certificate_expiry_timestamp_seconds", {},
               static_cast<double>(counts.certificate_not_after));
}

void add_remote(const engine::StreamStats& stream, Families& families) {
  const std::string& name = stream.name;
  if (stream.served) {
    families.add("echoline_serve_samples_total", {name, "ok"}, stream.served->samples);
    families.add("echoline_serve_samples_total", {name, "bad"}, stream.served->bad);
    families.add("echoline_serve_bytes_total", {name}, stream.served->bytes);
  }
  if (!stream.remote) return;
  const engine::RemoteStats& remote = *stream.remote;
  constexpr std::string_view kRequests = "echoline_prepare_requests_total";
  families.add(kRequests, {name, "answered"}, remote.answered);
  families.add(kRequests, {name, "failed"}, remote.failed);
  families.add(kRequests, {name, "busy"}, remote.busy);
  families.add(kRequests, {name, "refused"}, remote.refused);
  families.add(kRequests, {name, "damaged"}, remote.damaged);
  families.add("echoline_prepare_second_requests_total", {name}, remote.second);
  families.add("echoline_prepare_bytes_total", {name}, remote.bytes);
  families.add("echoline_prepare_local_records_total", {name}, remote.local_records);
  families.add("echoline_prepare_requests_in_flight", {name}, remote.in_flight);
  constexpr std::string_view kServers = "echoline_prepare_servers";
  families.add(kServers, {name, "reachable"}, remote.reachable);
  families.add(kServers, {name, "unreachable"},
               remote.servers - std::min(remote.servers, remote.reachable));
}

void add_stages(const engine::StreamStats& stream, Families& families) {
  constexpr std::string_view kName = "echoline_stage_seconds_total";
  // By stage and state, summed over the stage's threads.
  for (const engine::StageStats& stage : stream.stages) {
    families.add(kName, {stream.name, stage.stage, "busy"}, to_seconds(stage.busy_ns));
    families.add(kName, {stream.name, stage.stage, "starved"}, to_seconds(stage.starved_ns));
    families.add(kName, {stream.name, stage.stage, "blocked"}, to_seconds(stage.blocked_ns));
  }
}

// From sampled rows; and where the waits for fetch and prep were spent.
void add_steps(const engine::StreamStats& stream, Families& families) {
  for (const engine::StepStats& one : stream.steps) {
    families.add("echoline_step_rows_total", {stream.name, one.step}, one.rows);
    families.add("echoline_step_seconds_total", {stream.name, one.step}, to_seconds(one.ns));
  }
  constexpr std::string_view kRow = "echoline_row_seconds";
  families.add(kRow, {stream.name, "first"}, stream.preparation.first_times);
  families.add(kRow, {stream.name, "again"}, stream.preparation.again_times);
  for (std::size_t place = 0; place < stream.fetch_wait_ns.size(); ++place) {
    families.add("echoline_fetch_wait_seconds_total",
                 {stream.name, engine::kFetchPlaceNames[place]},
                 to_seconds(stream.fetch_wait_ns[place]));
  }
  for (const auto& [endpoint, ns] : stream.endpoint_wait_ns) {
    families.add("echoline_endpoint_wait_seconds_total", {stream.name, to_utf8(endpoint)},
                 to_seconds(ns));
  }
  for (const auto& [step, ns] : stream.step_wait_ns) {
    families.add("echoline_step_wait_seconds_total", {stream.name, step}, to_seconds(ns));
  }
}

// The trainers by "job/rank". Two trainers can attach with the same job and rank, and Prometheus
// rejects a scrape with duplicate series.
std::map<std::string, engine::ConsumerStats> by_name(const engine::StreamStats& stream) {
  std::map<std::string, engine::ConsumerStats> sums;
  for (const engine::ConsumerStats& consumer : stream.consumers) {
    // The series of both trainers together.
    engine::ConsumerStats& sum = sums[fmt::format("{}/{}", consumer.job, consumer.rank)];
    sum.batches += consumer.batches;
    // Lags are not added: the larger one says how far the rank is behind.
    sum.lag_rows = std::max(sum.lag_rows, consumer.lag_rows);
    for (std::size_t i = 0; i < sum.wait_ns.size(); ++i) sum.wait_ns[i] += consumer.wait_ns[i];
    sum.batch_waits += consumer.batch_waits;
    sum.device.batches += consumer.device.batches;
    sum.device.uses += consumer.device.uses;
    sum.device.bytes += consumer.device.bytes;
    sum.device.copy_ns += consumer.device.copy_ns;
    sum.device.wait_ns += consumer.device.wait_ns;
  }
  return sums;
}

// Only trainers with a GPU have these.
void add_device(const std::string& stream, const std::string& consumer,
                const shm::DeviceFigures& device, Families& families) {
  // A trainer without a GPU reports no copies.
  if (device.batches == 0) return;
  families.add("echoline_device_batches_total", {stream, consumer}, device.batches);
  families.add("echoline_device_uses_total", {stream, consumer}, device.uses);
  families.add("echoline_device_copied_bytes_total", {stream, consumer}, device.bytes);
  families.add("echoline_device_copy_seconds_total", {stream, consumer},
               to_seconds(device.copy_ns));
  families.add("echoline_device_wait_seconds_total", {stream, consumer},
               to_seconds(device.wait_ns));
}

void add_consumers(const engine::StreamStats& stream, Families& families) {
  for (const auto& [name, sum] : by_name(stream)) {
    families.add("echoline_consumer_batches_total", {stream.name, name}, sum.batches);
    families.add("echoline_consumer_lag_rows", {stream.name, name}, sum.lag_rows);
    for (std::size_t cause = 0; cause < sum.wait_ns.size(); ++cause) {
      families.add("echoline_consumer_wait_seconds_total",
                   {stream.name, name, engine::kWaitCauseNames[cause]},
                   to_seconds(sum.wait_ns[cause]));
    }
    families.add("echoline_consumer_batch_wait_seconds", {stream.name, name}, sum.batch_waits);
    add_device(stream.name, name, sum.device, families);
  }
  // Without names: this series remains when trainers come and go.
  families.add("echoline_consumers", {stream.name}, std::uint64_t{stream.consumers.size()});
  constexpr std::string_view kSlow = "echoline_slow_jobs_total";
  families.add(kSlow, {stream.name, "split"}, stream.slow.split);
  families.add(kSlow, {stream.name, "detached"}, stream.slow.detached);
  families.add(kSlow, {stream.name, "refused"}, stream.slow.refused);
}

// Only uses that were reported.
void add_losses(const engine::StreamStats& stream, Families& families) {
  for (const engine::ReportedLoss& one : stream.reported_losses) {
    for (std::size_t use = 0; use < one.rows.size(); ++use) {
      if (one.rows[use] == 0) continue;
      const bool last = use + 1 == one.rows.size();
      const std::string label = fmt::format("{}{}", use, last ? "+" : "");
      families.add("echoline_reported_rows_total", {stream.name, one.job, label}, one.rows[use]);
      families.add("echoline_reported_loss_sum", {stream.name, one.job, label}, one.sums[use]);
    }
  }
}

void add_storage(const engine::StreamStats& stream, Families& families) {
  const std::string& name = stream.name;
  const std::string& scheme = stream.source_scheme;
  constexpr std::string_view kRequests = "echoline_source_requests_total";
  families.add(kRequests, {name, scheme, "ok"}, stream.source.requests_ok);
  families.add(kRequests, {name, scheme, "retried"}, stream.source.requests_retried);
  families.add(kRequests, {name, scheme, "failed"}, stream.source.requests_failed);
  families.add(kRequests, {name, scheme, "redirected"}, stream.source.requests_redirected);
  families.add("echoline_source_bytes_total", {name, scheme}, stream.source.bytes);
  families.add("echoline_source_requests_in_flight", {name, scheme}, stream.source.in_flight);
  families.add("echoline_source_checked_total", {name, scheme}, stream.source.checked);
  families.add("echoline_source_damaged_total", {name, scheme}, stream.source.damaged);
  families.add("echoline_source_hedged_total", {name, scheme, "won"}, stream.source.hedges_won);
  families.add("echoline_source_hedged_total", {name, scheme, "lost"}, stream.source.hedges_lost);
  constexpr std::string_view kReplaced = "echoline_source_replaced_total";
  families.add(kReplaced, {name, scheme, "won"}, stream.source.replaced_won);
  families.add(kReplaced, {name, scheme, "lost"}, stream.source.replaced_lost);
  // Local files have no limit.
  if (stream.source.limit > 0)
    families.add("echoline_source_concurrency_limit", {name, scheme}, stream.source.limit);
  families.add("echoline_source_request_seconds", {name, scheme}, stream.source.latencies);
  // All reasons, zeros too.
  for (std::size_t i = 0; i < stream.source.wait_ns.size(); ++i) {
    families.add("echoline_source_wait_seconds_total", {name, scheme, source::kWaitReasonNames[i]},
                 to_seconds(stream.source.wait_ns[i]));
  }
}

void add_caches(const engine::StreamStats& stream, Families& families) {
  constexpr std::string_view kRequests = "echoline_cache_requests_total";
  const std::string& name = stream.name;
  for (const cache::LevelStats& one : stream.caches) {
    families.add(kRequests, {name, one.level, "hit"}, one.hits);
    families.add(kRequests, {name, one.level, "miss"}, one.misses);
    families.add("echoline_cache_hit_bytes_total", {name, one.level}, one.hit_bytes);
    families.add("echoline_cache_saved_seconds_total", {name, one.level}, to_seconds(one.saved_ns));
    // The fleet's servers are shared, so one daemon does not know what they hold for it.
    if (one.level != "fleet") {
      families.add("echoline_cache_bytes", {name, one.level}, one.held_bytes);
    }
    // Only levels that can fail have entries.
    for (const auto& [reason, count] : one.failures) {
      families.add("echoline_cache_failures_total", {name, one.level, reason}, count);
    }
  }
}

void add_samples(const engine::StreamStats& stream, Families& families) {
  const std::string& name = stream.name;
  families.add("echoline_batches_total", {name}, stream.batches);
  families.add("echoline_samples_total", {name, "fresh"}, stream.samples_fresh);
  families.add("echoline_samples_total", {name, "echoed"}, stream.samples_echoed);
  for (const engine::MixedSourceStats& source : stream.sources) {
    families.add("echoline_mix_samples_total", {name, source.name}, source.rows);
    families.add("echoline_mix_weight", {name, source.name}, source.weight / 1000.0);
  }
  families.add("echoline_records_checked_total", {name, "agreed"}, stream.records_agreed);
  families.add("echoline_records_checked_total", {name, "disagreed"}, stream.records_disagreed);
  families.add("echoline_records_checked_total", {name, "repeated"}, stream.records_repeated);
  families.add("echoline_records_checked_total", {name, "replaced"}, stream.records_replaced);
  const engine::PictureStats& pictures = stream.pictures;
  families.add("echoline_image_decodes_total", {name, "jpeg", "own"}, pictures.jpeg_own);
  families.add("echoline_image_decodes_total", {name, "jpeg", "libjpeg-turbo"},
               pictures.jpeg_libjpeg);
  families.add("echoline_image_decodes_total", {name, "png", "libpng"}, pictures.png);
  families.add("echoline_image_decodes_total", {name, "webp", "libwebp"}, pictures.webp);
  families.add("echoline_image_decodes_total", {name, "avif", "libavif"}, pictures.avif);
  add_user_code(name, stream.user_code, families);
  families.add("echoline_seek_index_requests_total", {name, "hit"}, stream.seek_hits);
  families.add("echoline_seek_index_requests_total", {name, "miss"}, stream.seek_misses);
  // Thousandths in the engine.
  families.add("echoline_echo_factor", {name}, static_cast<double>(stream.factor) / 1000);
  if (stream.awaits_hosts) {
    families.add("echoline_echo_factor_awaits_hosts", {name},
                 std::uint64_t{*stream.awaits_hosts ? 1U : 0U});
  }
  // Zeros too: if a series begins at 1, Prometheus sees no increase.
  for (const char* reason : engine::kBadReasonNames) {
    const auto found = stream.records_bad.find(reason);
    const std::uint64_t count = found == stream.records_bad.end() ? 0 : found->second;
    families.add("echoline_records_bad_total", {name, reason}, count);
  }
  // 0 means unknown; a series with 0 would be a value.
  if (stream.upstream_downstream_ratio > 0) {
    families.add("echoline_upstream_downstream_ratio", {name}, stream.upstream_downstream_ratio);
  }
  if (stream.seconds_to_first_batch > 0) {
    families.add("echoline_first_batch_seconds", {name}, stream.seconds_to_first_batch);
  }
}

void add_stream(const engine::StreamStats& stream, Families& families) {
  const std::string& name = stream.name;
  // A drained stream has no value: its operator wanted that no trainer can attach.
  if (stream.state != "drained") {
    families.add("echoline_stream_ready", {name}, std::uint64_t{stream.state == "ready"});
  }
  // A stream that is being opened has a fingerprint only at the end.
  const engine::IndexingStats& indexing = stream.indexing;
  const bool is_open = !stream.fingerprint.empty();
  if (is_open || indexing.shards > 0)
    families.add("echoline_index_left_bytes", {name}, indexing.bytes - indexing.bytes_done);
  if (!is_open) return;  // it has no other values
  families.add("echoline_stream_records", {name}, stream.records);
  families.add("echoline_stream_meta_files", {name}, stream.meta_files);
  families.add("echoline_passes", {name}, stream.passes);
  families.add("echoline_read_ahead_target_bytes", {name}, stream.read_ahead_target_bytes);
  families.add("echoline_fetch_queue_records", {name}, stream.records_requested);
  families.add("echoline_ring_slots", {name, "all", "free"}, stream.slots_free);
  families.add("echoline_ring_slots", {name, "all", "filling"}, stream.slots_filling);
  families.add("echoline_ring_slots", {name, "all", "published"}, stream.slots_published);
  add_samples(stream, families);
  add_stages(stream, families);
  add_steps(stream, families);
  add_consumers(stream, families);
  add_losses(stream, families);
  add_storage(stream, families);
  add_caches(stream, families);
  add_remote(stream, families);
}

void add_memory(const engine::EngineStats& stats, Families& families) {
  // All uses, zeros too.
  for (const auto& [use, bytes] : memory_by_use(stats))
    families.add("echoline_memory_bytes", {use}, bytes);
  families.add("echoline_memory_budget_bytes", {}, stats.memory_budget);
  families.add("echoline_memory_reserved_bytes", {}, stats.memory_reserved);
}

void add_etcd(const engine::EngineStats& stats, Families& families) {
  if (!stats.etcd) return;
  constexpr std::string_view kRequests = "echoline_etcd_requests_total";
  families.add(kRequests, {"answered"}, stats.etcd->answered);
  families.add(kRequests, {"failed"}, stats.etcd->failed);
}

void add_process(const ProcessStats& process, Families& families) {
  families.add("process_cpu_seconds_total", {}, process.cpu_seconds);
  families.add("process_start_time_seconds", {}, process.start_time_seconds);
  families.add("process_resident_memory_bytes", {}, process.resident_bytes);
  families.add("process_virtual_memory_bytes", {}, process.virtual_bytes);
  families.add("process_open_fds", {}, process.open_fds);
  families.add("process_max_fds", {}, process.max_fds);
  families.add("process_threads", {}, process.threads);
}

}  // namespace

std::string metrics_text(const engine::EngineStats& stats, const DaemonStats& daemon) {
  Families families;
  families.add("echoline_build_info", {kVersion}, std::uint64_t{1});
  families.add("echoline_workers", {}, std::uint64_t{stats.workers});
  families.add("echoline_worker_queue_tasks", {}, stats.tasks_queued);
  families.add("echoline_door_connections", {}, std::uint64_t{daemon.connections});
  families.add("echoline_draining", {}, std::uint64_t{daemon.draining});
  add_control(daemon.control, families);
  if (daemon.preparation) add_serving(*daemon.preparation, stats, families);
  add_process(daemon.process, families);
  add_memory(stats, families);
  add_etcd(stats, families);
  for (const engine::StreamStats& stream : stats.streams) add_stream(stream, families);
  return std::move(families).text();
}

}  // namespace echoline::serve
