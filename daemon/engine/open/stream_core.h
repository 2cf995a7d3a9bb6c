// What the passes of one stream share: the open data set, the plan, the compiled preparation and
// the counters.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/access_list.h"
#include "batch/preparer.h"
#include "batch/sample_cache.h"
#include "cache/levels.h"
#include "echo/item.h"
#include "engine/api/slow_policy.h"
#include "engine/fetch/fetchers.h"
#include "engine/open/bad_records.h"
#include "engine/open/memory_plan.h"
#include "engine/open/seek_writer.h"
#include "engine/open/step_account.h"
#include "engine/runtime/memory_budget.h"
#include "engine/runtime/worker_pool.h"
#include "engine/walk/read_ahead.h"
#include "plan/plan.h"
#include "record/core/data_set.h"
#include "ring/ring.h"
#include "seek/indexes.h"
#include "trace/recorder.h"

namespace echoline::engine {

// What a row that is read ahead costs in addition to its bytes: item, request, window entry.
inline constexpr std::uint64_t kAheadOverheadBytes = 512;
// Bytes of encoded records that make a chunk worth a task: a few hundred microseconds of decoding.
inline constexpr std::uint64_t kChunkBytes = 64 << 10;
// The same, at most, of rows that go through users' code together; and of their samples.
inline constexpr std::uint64_t kTogetherBytes = 8 << 20;

// Sums over all passes since the stream was created. Any thread. Nanoseconds are of worker threads.
struct StreamCounters {
  std::atomic<std::uint64_t> samples_fresh{0};
  std::atomic<std::uint64_t> samples_echoed{0};
  std::atomic<std::uint64_t> batches{0};
  std::atomic<std::uint64_t> prepare_first_ns{0};  // rows that had to be decoded
  std::atomic<std::uint64_t> prepare_first_rows{0};
  std::atomic<std::uint64_t> prepare_again_ns{0};  // rows made from kept samples
  std::atomic<std::uint64_t> prepare_again_rows{0};
  std::atomic<std::uint64_t> publish_ns{0};      // of the passes' threads
  std::atomic<std::uint64_t> served_samples{0};  // to other hosts
  std::atomic<std::uint64_t> served_bytes{0};
  std::atomic<std::uint64_t> served_bad{0};    // verdicts on bad records
  std::atomic<std::uint64_t> window_bytes{0};  // decoded or finished, kept for re-use
  std::atomic<std::uint64_t> encoded_bytes{0};
  StepAccount steps;
  std::array<std::atomic<std::uint64_t>, 64> source_rows{};  // of a mixture, by source
  std::atomic<std::uint64_t> first_batch_ns{0};  // since the stream's creation; 0: none yet
};

// The echo factor for trainers without a state, where no other trainer reads.
struct PresentFactor {
  std::uint32_t factor = 1000;  // thousandths
  std::uint64_t rows = 0;       // of whole epochs with it
  bool has_changed = false;     // this factor or that of any pass, at any time
  // A pass that begins with it says so in its list of changes: it is not the configured one, or the
  // daemon may change it at any time, so that trainers know no length of an epoch.
  bool is_listed = false;
};

// open_stream() builds it whole. Immutable from then on, except for the counters and the parts that
// have locks of their own. Passes, items and workers share it: the last of them destroys it, after
// Stream has stopped the fetchers.
struct StreamCore {
  // What arrives for an extent of a record: an estimate where it is a frame of a decoded sample.
  std::uint64_t arriving_bytes(const record::Extent& extent) const {
    return static_cast<std::uint64_t>(frame_growth * static_cast<double>(extent.bytes));
  }
  bool repeats_batches() const { return plan->spec().echo_point == plan::EchoPoint::kBatch; }
  bool has_buckets() const { return plan->spec().buckets != nullptr; }

  std::string name;
  std::uint64_t seed = 0;
  std::string scheme;  // of the source: file, s3
  AccessList access;   // empty: every process that can open the socket
  std::uint64_t created_ns = 0;
  std::unique_ptr<record::DataSet> data_set;
  MemoryBudget::Reservation order_memory;  // of the plan's lists or buckets
  MemoryBudget::Reservation step_memory;   // of files that steps keep
  std::unique_ptr<plan::Plan> plan;
  MemoryBudget::Reservation seek_memory;        // of the indexes; under the registry's lock
  std::unique_ptr<seek::Indexes> seek_indexes;  // null: none are kept; the preparer uses them
  std::unique_ptr<SeekWriter> seek_writer;
  std::unique_ptr<batch::Preparer> preparer;
  std::unique_ptr<BadRecords> bad_records;
  std::unique_ptr<cache::Levels> cache;         // null without a cache step after read
  std::unique_ptr<batch::SampleCache> samples;  // null without a cache step after decode
  // Traces of the stream may outlive it.
  std::shared_ptr<trace::Recorder> recorder = std::make_shared<trace::Recorder>();
  std::unique_ptr<Fetchers> fetchers;
  bool serves = false;              // other hosts get its samples; it has no passes
  std::string sample_fingerprint;   // of what is prepared elsewhere; empty without `prepare`
  std::uint64_t decoded_bytes = 0;  // of a decoded record, in the mean
  double frame_growth = 1;          // bytes that arrive for each encoded byte
  WorkerPool* pool = nullptr;
  std::vector<batch::WorkerScratch> worker_scratch;  // by worker
  ring::RingSpec ring_spec;
  std::uint32_t slots = 8;
  SlowPolicy slow;
  bool auto_factor = false;      // the daemon sets the echo factor
  bool agrees = false;           // with the daemons of other hosts, on changes of the order
  std::string echo_choice = {};  // where it put `echo`, and why; empty: the definition has the step
  // A wait of a trainer that is longer has a report in the log.
  std::uint64_t stall_report_ns = 10'000'000'000;
  ReadAhead::Options read_ahead;           // of each pass
  std::uint64_t shuffle_window_bytes = 0;  // as in MemoryPlan
  // Of each pass: the echo window in encoded form, for which there is always room, and in the form
  // that is reused (MemoryPlan).
  std::uint64_t window_floor_bytes = 0;
  std::uint64_t window_wish_bytes = 0;
  std::vector<PartSizes> window_parts = {};
  // The items share it, as they may outlive everything else here.
  std::shared_ptr<StreamCounters> counters = std::make_shared<StreamCounters>();
  // Reports that the stream cannot continue. Any thread; the first report counts.
  std::function<void(const Status&)> fail;
};

// What the draws of a row depend on.
inline UseKey use_key(const StreamCore& core, const echo::Item& item, std::uint32_t use)
    ECHOLINE_REQUIRES(item.mutex) {
  return {core.seed, item.record, item.epoch, static_cast<std::uint16_t>(item.first_draw + use),
          static_cast<std::uint16_t>(item.first_draw)};
}

}  // namespace echoline::engine
