// The counters of the engine, as plain numbers, for metrics, the control service and the log.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/histogram.h"
#include "cache/level_stats.h"
#include "decode/sample.h"
#include "echoline/shm/ring_layout.h"
#include "engine/api/stall_report.h"
#include "source/core/source.h"

namespace echoline::engine {

// The cause of a trainer's wait.
enum class WaitCause : std::uint8_t { kFetch, kPrep, kPublish, kPeer, kDaemon };
inline constexpr std::array<const char*, 5> kWaitCauseNames = {"fetch", "prep", "publish", "peer",
                                                               "daemon"};

// Why a record could not be decoded.
enum class BadReason : std::uint8_t { kMissing, kCorrupt, kTooLarge, kInvalid };
inline constexpr std::array<const char*, 4> kBadReasonNames = {"missing", "corrupt", "too_large",
                                                               "invalid"};

// Time of one stage by state, summed over its threads.
struct StageStats {
  std::string stage;  // fetch, prep, publish
  std::uint64_t busy_ns = 0;
  std::uint64_t starved_ns = 0;
  std::uint64_t blocked_ns = 0;
};

// What one step costs the workers, from sampled rows.
struct StepStats {
  std::string step;
  std::uint64_t rows = 0;
  std::uint64_t ns = 0;
};

// Bounds of the histogram of a row's preparation, in seconds: tokens are copied in microseconds,
// large pictures take a second.
inline constexpr std::array<double, 14> kRowBounds = {
    1e-5, 2.5e-5, 1e-4, 2.5e-4, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 10};
using RowTimes = Histogram<kRowBounds>;

// The bounds of a trainer's waits for a batch are those of requests.
using BatchWaitTimes = Histogram<source::kLatencyBounds>;

// What the workers have made; wall time in sum over workers.
struct PreparationStats {
  std::uint64_t first_rows = 0, first_ns = 0;    // rows that had to be decoded
  std::uint64_t again_rows = 0, again_ns = 0;    // rows from kept samples or rows
  std::uint64_t timed_ns = 0, timed_cpu_ns = 0;  // of the sampled rows: wall and CPU time
  RowTimes first_times{}, again_times{};         // of a row, from sampled rows
};

// A source of a mixture.
struct MixedSourceStats {
  std::string name;
  std::uint32_t weight = 0;  // thousandths
  std::uint64_t records = 0;
  std::uint64_t records_per_epoch = 0;  // counted again where they repeat
  std::uint64_t rows = 0;               // in published batches, as far as this host prepared them
};

// What the fetcher did.
struct FetchingStats {
  std::uint64_t records = 0;        // that arrived
  std::uint64_t store_records = 0;  // of these, from the store
  std::uint64_t store_ns = 0, cache_ns = 0, idle_ns = 0;
};

// Where trainers' waits for fetch were spent.
enum class FetchPlace : std::uint8_t { kStore, kServers, kDisk, kFleet, kPause };
inline constexpr std::array<const char*, 5> kFetchPlaceNames = {"store", "servers", "disk", "fleet",
                                                                "pause"};

// The counters of a stream over the last seconds, as differences: the state now, not the average
// since the stream was created.
struct RecentStats {
  std::uint64_t passed_ns = 0;  // the length of the interval; 0: no interval yet
  std::uint64_t samples_fresh = 0;
  std::uint64_t samples_echoed = 0;
  std::uint64_t batches = 0;
  std::uint64_t source_bytes = 0;
  std::uint64_t cache_hits = 0;
  std::uint64_t cache_misses = 0;          // of the last level: read from the store
  std::uint64_t attached_ns = 0;           // summed over trainers, with waits before they attached
  std::array<std::uint64_t, 5> wait_ns{};  // of it, by WaitCause
  std::array<std::uint64_t, source::kWaitReasonNames.size()> source_wait_ns{};
  std::vector<StageStats> stages{};
};

// What limits a stream now.
struct Verdict {
  // unknown, opening, failed, nobody, trainers, storage, workers, publishing, jobs or daemon.
  std::string limit = "unknown";
  std::string text;  // one sentence: the limit, and what to do about it
};

// The losses that a job's trainers reported, by use: [0] of fresh rows, the last one of all later
// uses.
struct ReportedLoss {
  std::string job;
  std::array<std::uint64_t, shm::kLossUses> rows{};
  std::array<double, shm::kLossUses> sums{};
};

struct ConsumerStats {
  std::string job;
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  std::uint32_t batch_size = 0;
  std::uint32_t epoch = 0;  // of the next batch
  std::uint64_t row = 0;    // of the next batch
  std::uint64_t batches = 0;
  std::uint64_t lag_rows = 0;              // behind the foremost trainer of its pass
  std::array<std::uint64_t, 5> wait_ns{};  // by WaitCause
  BatchWaitTimes batch_waits = {};
  shm::DeviceFigures device = {};  // what it reports of its GPU
  // Changes of the echo factor in its epoch: first block, and thousandths.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> changes = {};
  std::uint32_t pass = 0;  // its number among the stream's passes
};

// Where a new echo factor begins in a pass.
struct FactorStart {
  std::vector<std::string> jobs;  // that read the pass
  std::uint32_t epoch = 0;
  std::uint64_t block = 0;  // of the echo step
  std::uint64_t row = 0;    // the first row that differs from the order without the change
};

// Weights of a mixture by source, in thousandths.
using NamedWeights = std::map<std::string, std::uint32_t>;

// Where new weights of a mixture begin in a pass.
struct WeightStart {
  std::vector<std::string> jobs;  // that read the pass
  std::uint32_t epoch = 0;
  std::uint64_t row = 0;  // without echo
};

// What was done about slow jobs.
struct SlowCounts {
  std::uint64_t split = 0;
  std::uint64_t detached = 0;
  std::uint64_t refused = 0;  // no memory for another pass
};

// How far the index pass of a stream is that is being opened.
struct IndexingStats {
  std::uint64_t shards_done = 0, shards = 0;  // shards is 0 before the first report
  std::uint64_t bytes_done = 0, bytes = 0;    // skipped bytes count as done
  std::uint64_t records = 0;                  // found so far
  double bytes_per_second = 0;                // of the whole pass; 0 while unknown
  double seconds_left = 0;                    // at this rate; 0 while unknown
  bool waits = false;                         // until other streams are open
  std::string user_code;                      // what is done with it now, in words; empty: none
  double user_code_seconds = 0;               // so far
  std::uint64_t trainers = 0;                 // that wait for the stream
};

// Pictures decoded, by format and decoder.
struct PictureStats {
  std::uint64_t jpeg_own = 0;      // by the module jpeg,
  std::uint64_t jpeg_libjpeg = 0;  // by libjpeg-turbo
  std::uint64_t png = 0;
  std::uint64_t webp = 0;
  std::uint64_t avif = 0;
};

// A stream whose samples preparation servers make.
struct RemoteStats {
  std::uint64_t answered = 0;       // requests, by outcome
  std::uint64_t failed = 0;         // the server was not reached, or too late
  std::uint64_t refused = 0;        // another version or pipeline, no permission
  std::uint64_t busy = 0;           // the server had too much to do
  std::uint64_t damaged = 0;        // the answer had wrong bytes
  std::uint64_t second = 0;         // sent because the first one was late
  std::uint64_t bytes = 0;          // of samples
  std::uint64_t local_records = 0;  // that this host had to read itself
  std::uint64_t servers = 0;        // known now
  std::uint64_t reachable = 0;      // of them
  std::uint64_t in_flight = 0;      // requests now
};

// A stream whose samples are made here for other hosts.
struct ServedStats {
  std::uint64_t samples = 0;
  std::uint64_t bad = 0;  // verdicts on records that cannot be decoded
  std::uint64_t bytes = 0;
};

// Calls of users' code, of all `python` and `plugin` steps and of a data set together.
struct UserCodeStats {
  std::uint64_t steps = 0;
  std::uint64_t returned = 0, raised = 0, refused = 0, died = 0, timed_out = 0;  // samples
  std::uint64_t repeated = 0;  // exchanges after which samples were called one by one
  std::uint64_t ns = 0;
  std::uint64_t workers = 0;   // processes now
  std::uint64_t replaced = 0;  // processes
  std::uint64_t verdicts = 0;  // kept samples that are not called again
};

struct StreamStats {
  std::string name;
  std::string state;  // opening, ready, drained, failed
  std::string error;
  std::string fingerprint;  // 32 hex digits
  std::string echo_point;   // none, record, sample, augmented, batch
  std::vector<decode::FieldType> fields;
  IndexingStats indexing;  // while it is being opened
  std::uint64_t records = 0;
  std::uint64_t shards = 0;
  std::uint64_t meta_files = 0;      // files of tars with reserved names
  std::uint64_t rows_per_epoch = 0;  // of whole epochs with the factor
  std::uint64_t batches_per_epoch = 0;
  std::uint32_t batch_rows = 0;
  std::uint32_t factor = 1000;  // thousandths; the one set last
  bool auto_factor = false;     // the daemon sets it
  // Plans nothing until the hosts of a job agree about a change; nothing if they do not.
  std::optional<bool> awaits_hosts = {};
  std::string echo_choice;  // where the daemon put `echo`, and why; empty: it is configured
  std::uint64_t seed = 0;
  std::uint64_t samples_fresh = 0;
  std::uint64_t samples_echoed = 0;
  std::uint64_t batches = 0;
  std::vector<MixedSourceStats> sources;             // of a mixture, in its order; else empty
  std::map<std::string, std::uint64_t> records_bad;  // by reason, of those there were
  std::uint64_t records_agreed = 0;  // with their checksums, as FetchCounters has them
  std::uint64_t records_disagreed = 0;
  std::uint64_t records_repeated = 0;
  std::uint64_t records_replaced = 0;
  PictureStats pictures;
  UserCodeStats user_code;
  std::uint64_t seek_hits = 0;  // of pictures.jpeg_own, with and without a seek index
  std::uint64_t seek_misses = 0;
  std::vector<StageStats> stages;
  std::vector<StepStats> steps;
  PreparationStats preparation;
  FetchingStats fetching;
  std::array<std::uint64_t, kFetchPlaceNames.size()> fetch_wait_ns{};  // by FetchPlace
  std::map<std::string, std::uint64_t> endpoint_wait_ns;               // of those for the store
  std::map<std::string, std::uint64_t> step_wait_ns;                   // of the waits for prep
  std::uint64_t record_bytes = 0;                                      // of all records, encoded
  std::vector<ConsumerStats> consumers;
  std::vector<ReportedLoss> reported_losses;  // by job, of those that report
  double upstream_downstream_ratio = 0;       // R of the paper; 0 while unknown
  double seconds_to_first_batch = 0;          // 0 while unknown
  std::uint64_t passes = 0;
  SlowCounts slow;
  std::uint64_t slots_free = 0, slots_filling = 0, slots_published = 0;
  std::uint64_t read_ahead_target_bytes = 0;
  std::map<std::string, std::uint64_t> memory_bytes;  // by use: ring, window, read_ahead, cache
  source::Counters source;
  std::vector<source::EndpointRates> store_rates;  // of its endpoints, for all streams together
  std::string source_scheme;                       // file, s3
  std::uint64_t source_concurrency = 0;            // requests in flight that the settings allow
  std::uint64_t read_ahead_bytes = 0;              // that a pass may have requested and not used
  std::vector<cache::LevelStats> caches;           // by level, of those there are
  std::uint64_t records_requested = 0;             // and not there yet
  RecentStats recent;
  std::optional<RemoteStats> remote;
  std::optional<ServedStats> served;
  StallReport stall;
  Verdict verdict;
};

struct EngineStats {
  std::vector<StreamStats> streams;
  std::uint64_t memory_budget = 0;
  std::uint64_t memory_reserved = 0;
  std::uint32_t workers = 0;
  std::uint64_t tasks_queued = 0;  // that wait for a worker
  // Of a preparation server: samples in preparation or on their way, and requests that were refused
  // because of them.
  std::uint64_t served_bytes_now = 0;
  std::uint64_t served_bytes_max = 0;  // 0: this daemon is none
  std::uint64_t served_refused = 0;
  // Requests to the etcd of daemon.etcd, where there is one.
  struct EtcdCounts {
    std::uint64_t answered = 0;
    std::uint64_t failed = 0;
  };
  std::optional<EtcdCounts> etcd = {};
};

}  // namespace echoline::engine
