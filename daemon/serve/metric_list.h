// Every metric of the daemon: name, kind, labels and what it says. docs/metrics.md is made from
// this list, and only what stands here can be exported.
#pragma once

#include <array>
#include <string_view>

namespace echoline::serve {

enum class MetricKind { kCounter, kGauge };

struct MetricInfo {
  std::string_view name;
  MetricKind kind;
  std::string_view labels;  // comma separated
  std::string_view help;
};

inline constexpr auto kMetrics = std::to_array<MetricInfo>({
    {"echoline_build_info", MetricKind::kGauge, "version",
     "Always 1; the label names the version."},
    {"echoline_batches_total", MetricKind::kCounter, "stream", "Batches published."},
    {"echoline_cache_bytes", MetricKind::kGauge, "stream,level",
     "Bytes that a cache level (memory, disk) holds."},
    {"echoline_cache_failures_total", MetricKind::kCounter, "stream,level,reason",
     "What a cache level could not do, by reason: corrupt (a value failed its check and counts as "
     "a "
     "miss), full (no room for a value), dropped (the disk is slower than the values come), error "
     "(a "
     "read, a write or a server failed). Training goes on."},
    {"echoline_cache_hit_bytes_total", MetricKind::kCounter, "stream,level",
     "Bytes that a cache level (memory, disk, fleet) has delivered."},
    {"echoline_cache_requests_total", MetricKind::kCounter, "stream,level,outcome",
     "Records looked up in a cache level (memory, disk, fleet), by outcome: hit or miss. A level "
     "is "
     "asked when those before it missed."},
    {"echoline_cache_saved_seconds_total", MetricKind::kCounter, "stream,level",
     "Time that the store would have taken for a level's hits, at the rate it has shown, less the "
     "time of the hits themselves."},
    {"echoline_consumer_batches_total", MetricKind::kCounter, "stream,consumer",
     "Batches released by a trainer; consumer is job/rank."},
    {"echoline_consumer_wait_seconds_total", MetricKind::kCounter, "stream,consumer,cause",
     "Time a trainer waited for a batch, by who it is charged to: fetch, prep, publish, peer (a "
     "slower job or rank) or daemon."},
    {"echoline_consumers", MetricKind::kGauge, "stream", "Trainers attached."},
    {"echoline_door_connections", MetricKind::kGauge, "",
     "Connections to the door, attached or about to."},
    {"echoline_echo_factor", MetricKind::kGauge, "stream", "Uses of each item, in the mean."},
    {"echoline_first_batch_seconds", MetricKind::kGauge, "stream",
     "Time from the stream's creation to its first batch; absent before it."},
    {"echoline_memory_budget_bytes", MetricKind::kGauge, "",
     "What daemon.memory allows for rings, windows, caches and read-ahead together."},
    {"echoline_memory_bytes", MetricKind::kGauge, "use",
     "Memory of all streams by use: ring, window (decoded samples kept for their next use), "
     "encoded "
     "(records read ahead or kept encoded) and cache."},
    {"echoline_memory_reserved_bytes", MetricKind::kGauge, "",
     "Bytes of the budget that streams and passes have reserved."},
    {"echoline_passes", MetricKind::kGauge, "stream",
     "Passes: groups of jobs that share each prepared batch."},
    {"echoline_records_bad_total", MetricKind::kCounter, "stream,reason",
     "Records that could not be decoded and were replaced."},
    {"echoline_ring_slots", MetricKind::kGauge, "stream,rank,state",
     "Slots of the stream's rings: free, filling or published. One ring serves all ranks, so rank "
     "is \"all\"."},
    {"echoline_samples_total", MetricKind::kCounter, "stream,kind",
     "Rows published: fresh (first use in its epoch) or echoed."},
    {"echoline_source_bytes_total", MetricKind::kCounter, "stream,scheme",
     "Bytes read from storage."},
    {"echoline_source_requests_in_flight", MetricKind::kGauge, "stream,scheme",
     "Requests to storage under way."},
    {"echoline_source_requests_total", MetricKind::kCounter, "stream,scheme,outcome",
     "Requests to storage by outcome: ok, retried or failed."},
    {"echoline_stage_seconds_total", MetricKind::kCounter, "stream,stage,state",
     "Time of a stage's threads (fetch, prep, publish) by state: busy, starved (no input) or "
     "blocked (no room for output)."},
    {"echoline_stream_ready", MetricKind::kGauge, "stream", "1 when trainers can attach, else 0."},
    {"echoline_stream_records", MetricKind::kGauge, "stream", "Records of the data set."},
    {"echoline_upstream_downstream_ratio", MetricKind::kGauge, "stream",
     "The echoing paper's R: time upstream of the echo point for one batch over time downstream of "
     "it; absent while unknown. Echo helps when it is above 1."},
    {"echoline_workers", MetricKind::kGauge, "", "CPU worker threads, shared by all streams."},
});

}  // namespace echoline::serve
