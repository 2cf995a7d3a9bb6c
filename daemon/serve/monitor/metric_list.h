// Every metric of the daemon: name, kind, labels and meaning. docs/metrics.md is generated from
// this list. The daemon can export only metrics of this list.
#pragma once

#include <array>
#include <string_view>

namespace echoline::serve {

enum class MetricKind { kCounter, kGauge, kHistogram };

struct MetricInfo {
  std::string_view name;
  std::string_view labels;  // comma separated
  std::string_view help;

  // Prometheus convention: the name of a counter ends with _total.
  constexpr MetricKind kind() const {
    if (name.ends_with("_total")) return MetricKind::kCounter;
    for (const std::string_view of : {"_request_seconds", "_wait_seconds", "_row_seconds"}) {
      if (name.ends_with(of)) return MetricKind::kHistogram;
    }
    return MetricKind::kGauge;
  }
};

inline constexpr auto kMetrics = std::to_array<MetricInfo>({
    {"echoline_build_info", "version", "Always 1; the label has the version."},
    {"echoline_batches_total", "stream", "Batches published."},
    {"echoline_cache_bytes", "stream,level", "Bytes that a cache level (memory, disk) holds."},
    {"echoline_cache_failures_total", "stream,level,reason",
     "Failures of a cache level, by reason: corrupt (a value failed its check and counts as a "
     "miss), full (no room for a value), dropped (values arrive faster than the disk can "
     "write), error (a read, a write or a server failed). Training continues."},
    {"echoline_cache_hit_bytes_total", "stream,level",
     "Bytes that a cache level (memory, disk, fleet) has delivered."},
    {"echoline_cache_requests_total", "stream,level,outcome",
     "Records looked up in a cache level (memory, disk, fleet), by outcome: hit or miss. A "
     "level is asked after a miss in the levels before it."},
    {"echoline_cache_saved_seconds_total", "stream,level",
     "Time that the store would have needed for the hits of a level, at its measured rate, "
     "minus the time of the hits. A hit in memory counts as zero time. Hits of a cache after "
     "decode also save decoding time."},
    {"echoline_consumer_batch_wait_seconds", "stream,consumer",
     "Time that a trainer waited for one batch, all causes together; 0 where the batch was there. "
     "The daemon looks every 10 ms, so a shorter wait is the mean of the batches between two "
     "looks. "
     "On a GPU: the wait of the thread that copies, not of the trainer."},
    {"echoline_consumer_batches_total", "stream,consumer",
     "Batches released by a trainer. The label consumer is job/rank."},
    {"echoline_consumer_lag_rows", "stream,consumer",
     "Rows that a trainer is behind the first trainer of its pass."},
    {"echoline_consumer_wait_seconds_total", "stream,consumer,cause",
     "Time that a trainer waited for a batch, by cause: fetch (the store), prep (decoding and "
     "augmentation), publish (the ring), peer (a slower job or rank) or daemon (it was not "
     "running)."},
    {"echoline_consumers", "stream", "Trainers attached."},
    {"echoline_device_batches_total", "stream,consumer",
     "Batches that a trainer copied to its GPU, as reported by the trainer. All echoline_device "
     "metrics exist only for trainers on a GPU."},
    {"echoline_device_copied_bytes_total", "stream,consumer",
     "Bytes that a trainer copied to its GPU."},
    {"echoline_device_copy_seconds_total", "stream,consumer", "Time of these copies on the GPU."},
    {"echoline_device_uses_total", "stream,consumer",
     "Batches given to the trainer on the GPU. With device echo this is more than the batches "
     "copied: 1 - copied / given is the share of device echo."},
    {"echoline_device_wait_seconds_total", "stream,consumer",
     "Time that the trainer's CUDA streams waited for a batch, measured on the GPU. Its rate is "
     "the stall share on the GPU."},
    {"echoline_control_calls_denied_total", "",
     "Calls of the control service that were denied: daemon.control does not allow them for "
     "this caller."},
    {"echoline_control_certificate_expiry_timestamp_seconds", "",
     "When the TLS certificate in use expires, in seconds since 1970; absent without TLS."},
    {"echoline_control_certificate_reloads_total", "outcome",
     "Detected changes of the TLS files, by outcome: ok, or failed (a file is wrong; the "
     "previous certificate stays in use)."},
    {"echoline_control_connections", "transport",
     "Connections to the control service, by transport: unix or tls."},
    {"echoline_control_connections_refused_total", "",
     "Connections to the control service that were closed because there were too many."},
    {"echoline_door_connections", "",
     "Connections to door.sock: attached trainers and those that are attaching."},
    {"echoline_draining", "", "1 while the daemon drains its passes before it stops, else 0."},
    {"echoline_echo_factor", "stream", "Mean number of uses of each item."},
    {"echoline_echo_factor_awaits_hosts", "stream",
     "1 while no batch is planned because the hosts of a job have to agree about a change of its "
     "echo factor or weights; with `daemon.etcd`, for streams where these can change."},
    {"echoline_endpoint_wait_seconds_total", "stream,endpoint",
     "Time that trainers waited for fetch at the store, by the scheme and host or bucket of the "
     "oldest request at that time, as in s3://photos; file for local files. From the 33rd on they "
     "count as other."},
    {"echoline_etcd_requests_total", "outcome",
     "Requests to the etcd of `daemon.etcd`, by outcome: answered, or failed at all endpoints."},
    {"echoline_fetch_queue_records", "stream",
     "Records requested from the caches and the store that have not arrived."},
    {"echoline_fetch_wait_seconds_total", "stream,place",
     "Time that trainers waited for fetch, by place: store, disk or fleet (of the cache), servers "
     "(of `prepare`), or pause (nobody was asked for what is missing: the store pauses after an "
     "error, a fleet is filled too slowly, or the read-ahead has no room)."},
    {"echoline_first_batch_seconds", "stream",
     "Time from the stream's creation to its first batch; absent before it."},
    {"echoline_image_decodes_total", "stream,format,decoder",
     "Pictures decoded, by format and decoder. JPEG: own (baseline files of the usual kinds) or "
     "libjpeg-turbo (all others, and files with anything unusual in their data); pixels and errors "
     "are the same."},
    {"echoline_index_left_bytes", "stream",
     "Bytes that the index pass of a stream has not seen yet; 0 once the stream is open."},
    {"echoline_memory_budget_bytes", "",
     "Value of daemon.memory: the limit for rings, windows, caches and read-ahead together."},
    {"echoline_memory_bytes", "use",
     "Memory of all streams, by use: ring, window (decoded samples kept for their next use), "
     "encoded (records read ahead or kept encoded), cache, seek_index, order (lists of "
     "shuffle.order, records of batch.buckets), and checksums (of records that have none in the "
     "index; not part of the budget)."},
    {"echoline_memory_reserved_bytes", "",
     "Bytes of the budget that streams and passes have reserved."},
    {"echoline_mix_samples_total", "stream,source",
     "Samples in published batches by source, echoes included; only of streams with the step mix."},
    {"echoline_mix_weight", "stream,source",
     "Weight of each source that was set last; passes of trainers with older states can have "
     "another. Only of streams with the step mix."},
    {"echoline_passes", "stream",
     "Passes. A pass is a group of jobs that share each prepared batch."},
    {"echoline_prepare_bytes_total", "stream",
     "Bytes of samples from preparation servers. All echoline_prepare metrics exist only for "
     "streams with a prepare step."},
    {"echoline_prepare_local_records_total", "stream",
     "Records that this host had to read and decode itself (prepare.fallback: local)."},
    {"echoline_prepare_requests_in_flight", "stream", "Requests at preparation servers."},
    {"echoline_prepare_requests_total", "stream,outcome",
     "Requests to preparation servers, by outcome: answered, failed (not reached, or too late), "
     "busy (daemon.serve.memory is used up), refused (another version or pipeline, no permission) "
     "or damaged (wrong bytes in the answer). All but the first are asked again."},
    {"echoline_prepare_second_requests_total", "stream",
     "Requests to a second server because the answer of the first one was late."},
    {"echoline_prepare_servers", "stream,state",
     "Preparation servers, by state: reachable or unreachable (also those that refuse)."},
    {"echoline_python_call_seconds_total", "stream",
     "Time of these calls, from the call to the answer, without waits for a free worker."},
    {"echoline_python_calls_total", "stream,outcome",
     "Samples for which users' code (steps python and plugin, data sets in Python) was called, by "
     "outcome: returned, raised (an exception, or an error of a plugin), refused (the result is "
     "not "
     "what `out` says), died (the process ended; the sample is tried once more) or timeout (the "
     "same). Of several samples that were handed over together, died and timeout count once, and "
     "the others when they are called alone. All echoline_python metrics count both kinds of steps "
     "and exist only for streams with such a step or data set."},
    {"echoline_python_chunks_repeated_total", "stream",
     "Exchanges with several samples of which one or more had to be called alone afterwards: the "
     "function failed, or its process was lost."},
    {"echoline_python_verdicts_kept", "stream",
     "Samples that ended or blocked two workers and are not called again at their epoch and use; "
     "at most 65,536 for each step."},
    {"echoline_python_workers", "stream", "Worker processes of the stream's users' code."},
    {"echoline_python_workers_replaced_total", "stream",
     "Worker processes that ended, hung, or were given up with their pass, and were replaced."},
    {"echoline_read_ahead_target_bytes", "stream",
     "Encoded bytes that the stream's passes try to keep ahead of their use, from the measured "
     "rate and delay; at most read.read_ahead per pass."},
    {"echoline_records_bad_total", "stream,reason",
     "Records that could not be decoded and were replaced."},
    {"echoline_records_checked_total", "stream,outcome",
     "Records from storage that were compared with their checksum, by outcome: agreed, disagreed "
     "(requested again), repeated (no checksum is known: requested a second time and compared), or "
     "replaced (two equal answers disagreed with a checksum that was made from one answer). "
     "Records from a cache are not counted."},
    {"echoline_reported_loss_sum", "stream,job,use",
     "Sum of the losses that a job's trainers gave back with loader.report(), by use of the rows: "
     "0 (fresh), 1 (the second use) up to 15+. Divided by echoline_reported_rows_total it is the "
     "mean loss of a use. Only jobs that report have it; at most 64 jobs of a stream."},
    {"echoline_reported_rows_total", "stream,job,use", "The rows of these losses."},
    {"echoline_ring_slots", "stream,rank,state",
     "Slots of the stream's rings, by state: free, filling or published. All ranks share one "
     "ring, so rank is \"all\"."},
    {"echoline_row_seconds", "stream,kind",
     "Time of a worker to prepare one row, estimated from about one row in 64, by kind: first (its "
     "record had to be decoded) or again (from a sample or row that was kept)."},
    {"echoline_samples_total", "stream,kind",
     "Rows published, by kind: fresh (first use in its epoch) or echoed."},
    {"echoline_seek_index_requests_total", "stream,outcome",
     "JPEG files that the own decoder took, by outcome: hit (decoded with their seek index) or "
     "miss. Both are 0 without seek indexes (daemon.seek_index)."},
    {"echoline_serve_bytes", "",
     "Bytes of samples for other hosts in preparation or on their way, estimated. All "
     "echoline_serve metrics exist only with daemon.serve."},
    {"echoline_serve_bytes_limit", "", "Value of daemon.serve.memory."},
    {"echoline_serve_bytes_total", "stream", "Bytes of samples prepared for other hosts."},
    {"echoline_serve_calls_total", "outcome",
     "Requests of other hosts, by outcome: answered, busy (refused because daemon.serve.memory is "
     "used up), denied (a certificate that daemon.serve.allow does not name) or other (another "
     "version or pipeline, or the host has left)."},
    {"echoline_serve_certificate_expiry_timestamp_seconds", "",
     "When the TLS certificate of the preparation server expires, in seconds since 1970."},
    {"echoline_serve_connections", "", "Connections of other hosts."},
    {"echoline_serve_connections_refused_total", "",
     "Connections that were closed because there were too many."},
    {"echoline_serve_samples_total", "stream,outcome",
     "Records prepared for other hosts, by outcome: ok, or bad (it cannot be decoded, and the host "
     "was told)."},
    {"echoline_slow_jobs_total", "stream,outcome",
     "Actions for jobs that fell behind (publish.when_slow), by outcome: split, detached, or "
     "refused (no memory for another pass; the other jobs wait)."},
    {"echoline_source_bytes_total", "stream,scheme",
     "Bytes read from storage, by scheme: file, s3, gs or http (includes https)."},
    {"echoline_source_checked_total", "stream,scheme",
     "Objects read whole whose bytes agreed with the store's checksum."},
    {"echoline_source_damaged_total", "stream,scheme",
     "Answers of the store whose bytes were wrong and that were requested again: records, whole "
     "objects, headers, listings, and shards while they are indexed or unpacked."},
    {"echoline_source_concurrency_limit", "stream,scheme",
     "Limit on concurrent requests to the store, for all streams together. It falls while the "
     "store refuses requests or fewer give the same rate, and rises while more give a higher "
     "rate. Absent for local files."},
    {"echoline_source_hedged_total", "stream,scheme,outcome",
     "Second requests for late answers, by outcome: won (the second answer came first) or lost."},
    {"echoline_source_replaced_total", "stream,scheme,outcome",
     "Second requests for the rest of slow answers, by outcome: won (the second answer was used) "
     "or "
     "lost."},
    {"echoline_source_request_seconds", "stream,scheme",
     "Time of one successful answer of the store, from the request to the last byte, without "
     "pauses and failed attempts before it."},
    {"echoline_source_requests_in_flight", "stream,scheme", "Requests to storage in flight."},
    {"echoline_source_requests_total", "stream,scheme,outcome",
     "Requests to storage, by outcome: ok, retried, failed or redirected (answered with the "
     "address "
     "of the bytes, which was asked at once)."},
    {"echoline_source_wait_seconds_total", "stream,scheme,reason",
     "Time that requests to storage waited, summed over requests, by reason: limit (the "
     "concurrency limit), throttled (429, 503, Retry-After), unreachable, stalled, broken "
     "(resets, short or wrong answers, server errors), imitated (read.throttle) or credentials "
     "(being fetched, or refused)."},
    {"echoline_stage_seconds_total", "stream,stage,state",
     "Time of a stage's threads (fetch, prep, publish), by state: busy, starved (no input) or "
     "blocked (no room for output)."},
    {"echoline_step_rows_total", "stream,step",
     "Rows that ran a step on the workers, estimated from about one row in 64."},
    {"echoline_step_seconds_total", "stream,step",
     "Time of the workers by step, estimated from about one row in 64 that is timed in full: "
     "decode "
     "or a transform with its field, copy (a field that no step changes; results of users' code "
     "may be copied within its own step), keep (for later uses), "
     "reuse (of a finished row), or other. Divided by echoline_step_rows_total it is the cost of a "
     "row; the sum is the busy time of prep."},
    {"echoline_step_wait_seconds_total", "stream,step",
     "Time that trainers waited for prep, spread over the steps by what they cost the workers in "
     "that time; known about a second later."},
    {"echoline_stream_meta_files", "stream",
     "Files in the tars of the data set that belong to no record, because WebDataset reserves "
     "their names: __NAME__, or anything below a folder __NAME__."},
    {"echoline_stream_ready", "stream",
     "1 when trainers can attach, else 0, for example for a kept stream that could not be "
     "created; absent for a drained stream."},
    {"echoline_stream_records", "stream", "Records of the data set."},
    {"echoline_upstream_downstream_ratio", "stream",
     "R of the data echoing paper: time before the echo point for one batch, divided by the "
     "time after it, measured over the last seconds of work; absent while unknown. Echo helps "
     "when R is above 1."},
    {"echoline_worker_queue_tasks", "", "Chunks of rows that wait for a worker."},
    {"echoline_workers", "", "CPU worker threads, shared by all streams."},
    {"process_cpu_seconds_total", "", "CPU time of the daemon, user and system, in all threads."},
    {"process_max_fds", "", "Limit on open file descriptors of the daemon."},
    {"process_open_fds", "", "Open file descriptors of the daemon."},
    {"process_resident_memory_bytes", "",
     "Resident memory of the daemon, including the rings that it shares with trainers."},
    {"process_start_time_seconds", "", "Start time of the daemon, in seconds since 1970."},
    {"process_threads", "", "Threads of the daemon."},
    {"process_virtual_memory_bytes", "", "Virtual memory of the daemon."},
});

}  // namespace echoline::serve
