// The list of all metrics of the daemon: name, kind, labels and meaning. docs/metrics.md is
// generated from it, and only metrics in it can be exported.
#pragma once

#include <array>
#include <string_view>

namespace echoline::serve {

enum class MetricKind { kCounter, kGauge, kHistogram };

struct MetricInfo {
  std::string_view name;
  std::string_view labels;  // comma separated
  std::string_view help;

  // Derived from the name, by Prometheus' convention.
  constexpr MetricKind kind() const {
    if (name.ends_with("_total")) return MetricKind::kCounter;
    return name.ends_with("_request_seconds") ? MetricKind::kHistogram : MetricKind::kGauge;
  }
};

inline constexpr auto kMetrics = std::to_array<MetricInfo>({
    {"echoline_build_info", "version", "Always 1; the label names the version."},
    {"echoline_batches_total", "stream", "Batches published."},
    {"echoline_cache_bytes", "stream,level", "Bytes that a cache level (memory, disk) holds."},
    {"echoline_cache_failures_total", "stream,level,reason",
     "Failures of a cache level, by reason: corrupt (a value failed its check and counts as a "
     "miss), "
     "full (no room for a value), dropped (the disk is slower than the values come), error (a "
     "read, "
     "a write or a server failed). Training continues."},
    {"echoline_cache_hit_bytes_total", "stream,level",
     "Bytes that a cache level (memory, disk, fleet) has delivered."},
    {"echoline_cache_requests_total", "stream,level,outcome",
     "Records looked up in a cache level (memory, disk, fleet), by outcome: hit or miss. A level "
     "is asked when those before it missed."},
    {"echoline_cache_saved_seconds_total", "stream,level",
     "Time that the store would have needed for a level's hits, at its measured rate, less the "
     "time "
     "of the hits. Hits of memory count as no time; hits of a cache after decode also save the "
     "workers' decoding."},
    {"echoline_consumer_batches_total", "stream,consumer",
     "Batches released by a trainer; consumer is job/rank."},
    {"echoline_consumer_lag_rows", "stream,consumer",
     "Rows that a trainer is behind the first one of its pass."},
    {"echoline_consumer_wait_seconds_total", "stream,consumer,cause",
     "Time that a trainer waited for a batch, by cause: fetch, prep, publish, peer (a slower job "
     "or "
     "rank) or daemon."},
    {"echoline_consumers", "stream", "Trainers attached."},
    {"echoline_device_batches_total", "stream,consumer",
     "Batches that a trainer copied to its GPU, as it reports. Only trainers with a GPU have the "
     "metrics echoline_device."},
    {"echoline_device_copied_bytes_total", "stream,consumer",
     "Bytes that a trainer copied to its GPU."},
    {"echoline_device_copy_seconds_total", "stream,consumer",
     "Time of these copies on the device."},
    {"echoline_device_uses_total", "stream,consumer",
     "Batches delivered on the GPU. With device echo these are more than were copied: 1 - copied / "
     "delivered is the share of device echo."},
    {"echoline_device_wait_seconds_total", "stream,consumer",
     "Time that the trainer's CUDA streams waited for a batch. Its rate is the stall share as the "
     "GPU measures it."},
    {"echoline_control_calls_denied_total", "",
     "Calls of the control service that were denied, by daemon.control."},
    {"echoline_control_certificate_expiry_timestamp_seconds", "",
     "When the certificate in use for TLS expires, in seconds since 1970; absent without TLS."},
    {"echoline_control_certificate_reloads_total", "outcome",
     "Changes of the TLS files that were seen, by outcome: ok, or failed (a file is wrong; the "
     "certificate read before stays in use)."},
    {"echoline_control_connections", "transport",
     "Connections to the control service: unix or tls."},
    {"echoline_control_connections_refused_total", "",
     "Connections to the control service that were closed at once because there were too many."},
    {"echoline_door_connections", "", "Connections to the door, attached or not yet."},
    {"echoline_draining", "", "1 while the daemon ends its passes in order to stop, else 0."},
    {"echoline_echo_factor", "stream", "Mean number of uses of each item."},
    {"echoline_fetch_queue_records", "stream",
     "Records requested from the caches and the store that have not arrived yet."},
    {"echoline_first_batch_seconds", "stream",
     "Time from the stream's creation to its first batch; absent before it."},
    {"echoline_memory_budget_bytes", "",
     "What daemon.memory allows for rings, windows, caches and read-ahead together."},
    {"echoline_memory_bytes", "use",
     "Memory of all streams by use: ring, window (decoded samples kept for their next use), "
     "encoded (records read ahead or kept encoded) and cache."},
    {"echoline_memory_reserved_bytes", "",
     "Bytes of the budget that streams and passes have reserved."},
    {"echoline_passes", "stream", "Passes: groups of jobs that share each prepared batch."},
    {"echoline_read_ahead_target_bytes", "stream",
     "Encoded bytes that the stream's passes try to have ahead of their use, from the measured "
     "rate "
     "and delay; at most read.read_ahead for each pass."},
    {"echoline_records_bad_total", "stream,reason",
     "Records that could not be decoded and were replaced."},
    {"echoline_records_checked_total", "stream,outcome",
     "Records from storage that were compared with their checksum in the index, by outcome: "
     "agreed, or disagreed (requested again, at most four times in all). Records of a cache are "
     "not "
     "counted."},
    {"echoline_ring_slots", "stream,rank,state",
     "Slots of the stream's rings: free, filling or published. One ring serves all ranks, so rank "
     "is \"all\"."},
    {"echoline_samples_total", "stream,kind",
     "Rows published: fresh (first use in its epoch) or echoed."},
    {"echoline_slow_jobs_total", "stream,outcome",
     "Jobs that fell behind (publish.when_slow), by outcome: split, detached, or refused (no "
     "memory "
     "for another pass; the others wait)."},
    {"echoline_source_bytes_total", "stream,scheme",
     "Bytes read from storage, by scheme: file, s3, gs or http (https too)."},
    {"echoline_source_checked_total", "stream,scheme",
     "Objects that were read as a whole and agreed with the store's checksum."},
    {"echoline_source_concurrency_limit", "stream,scheme",
     "Limit of concurrent requests to the store, for all streams together. It falls while the "
     "store "
     "refuses requests, or while fewer give the same rate; it rises while more give a higher rate. "
     "Absent for local files."},
    {"echoline_source_hedged_total", "stream,scheme,outcome",
     "Second requests for late answers, by outcome: won (its answer came first) or lost."},
    {"echoline_source_request_seconds", "stream,scheme",
     "Time of a successful request to storage, from the request to the last byte; without the "
     "pauses and failed attempts before it."},
    {"echoline_source_requests_in_flight", "stream,scheme", "Requests to storage in flight."},
    {"echoline_source_requests_total", "stream,scheme,outcome",
     "Requests to storage by outcome: ok, retried or failed."},
    {"echoline_source_wait_seconds_total", "stream,scheme,reason",
     "Time that requests to storage waited, in sum over all requests, by reason: limit (of "
     "concurrent requests), throttled (429, 503, Retry-After), unreachable, stalled, broken "
     "(resets, short or wrong answers, errors of the server), imitated (the configured "
     "read.throttle) or credentials (fetching them)."},
    {"echoline_stage_seconds_total", "stream,stage,state",
     "Time of a stage's threads (fetch, prep, publish) by state: busy, starved (no input) or "
     "blocked (no room for output)."},
    {"echoline_stream_ready", "stream",
     "1 when trainers can attach, else 0, also for a kept stream that could not be created. Absent "
     "for a drained stream."},
    {"echoline_stream_records", "stream", "Records of the data set."},
    {"echoline_upstream_downstream_ratio", "stream",
     "The echoing paper's R: time upstream of the echo point for one batch over time downstream of "
     "it; absent while unknown. Echo helps when it is above 1."},
    {"echoline_worker_queue_tasks", "", "Chunks of rows that wait for a worker."},
    {"echoline_workers", "", "CPU worker threads, shared by all streams."},
    {"process_cpu_seconds_total", "", "CPU time of the daemon, user and system, in all threads."},
    {"process_max_fds", "", "File descriptors that the daemon may have open."},
    {"process_open_fds", "", "File descriptors that the daemon has open."},
    {"process_resident_memory_bytes", "",
     "Memory of the daemon in RAM, including the rings that it shares with trainers."},
    {"process_start_time_seconds", "", "When the daemon was started, in seconds since the epoch."},
    {"process_threads", "", "Threads of the daemon."},
    {"process_virtual_memory_bytes", "", "Virtual memory of the daemon."},
});

}  // namespace echoline::serve
