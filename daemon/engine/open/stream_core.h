// What the passes of one stream share: the opened data, the plan, the compiled preparation, its
// counters.
#pragma once

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
#include "engine/api/slow_policy.h"
#include "engine/fetch/fetcher.h"
#include "engine/open/bad_records.h"
#include "engine/runtime/worker_pool.h"
#include "engine/walk/read_ahead.h"
#include "plan/plan.h"
#include "record/core/data_set.h"
#include "ring/ring.h"

namespace echoline::engine {

// What a row that is looked ahead costs beside its bytes: item, order, place in the window.
inline constexpr std::uint64_t kAheadOverheadBytes = 512;
// Bytes of encoded records that make a chunk worth a task: a few hundred microseconds of decoding.
inline constexpr std::uint64_t kChunkBytes = 64 << 10;

// Sums over all passes, ever. Nanoseconds are of worker threads.
struct StreamCounters {
  std::atomic<std::uint64_t> samples_fresh{0};
  std::atomic<std::uint64_t> samples_echoed{0};
  std::atomic<std::uint64_t> batches{0};
  std::atomic<std::uint64_t> prepare_first_ns{0};  // rows that had to be decoded
  std::atomic<std::uint64_t> prepare_first_rows{0};
  std::atomic<std::uint64_t> prepare_again_ns{0};  // rows made from what was kept
  std::atomic<std::uint64_t> prepare_again_rows{0};
  std::atomic<std::uint64_t> window_bytes{0};  // decoded or finished, kept for re-use
  std::atomic<std::uint64_t> encoded_bytes{0};
  std::atomic<std::uint64_t> first_batch_ns{0};  // since the stream's creation; 0: none yet
};

// The echo factor that trainers without a state begin with, where no other reads.
struct PresentFactor {
  std::uint32_t factor = 1000;  // thousandths
  std::uint64_t rows = 0;       // of whole epochs with it
  bool has_changed = false;     // it or that of some pass, ever
};

// Immutable once the stream is open, but for its counters and parts that guard themselves.
struct StreamCore {
  bool repeats_batches() const { return plan->spec().echo_point == plan::EchoPoint::kBatch; }

  std::string name;
  std::uint64_t seed = 0;
  std::string scheme;  // of the source: file, s3
  AccessList access;   // empty: whoever reaches the door
  std::uint64_t created_ns = 0;
  std::unique_ptr<record::DataSet> data_set;
  std::unique_ptr<plan::Plan> plan;
  std::unique_ptr<batch::Preparer> preparer;
  std::unique_ptr<BadRecords> bad_records;
  std::unique_ptr<cache::Levels> cache;         // null without a cache step after read
  std::unique_ptr<batch::SampleCache> samples;  // null without a cache step after decode
  std::unique_ptr<Fetcher> fetcher;
  WorkerPool* pool = nullptr;
  std::vector<batch::WorkerScratch> worker_scratch;  // by worker
  ring::RingSpec ring_spec;
  std::uint32_t slots = 8;
  SlowPolicy slow;
  ReadAhead::Options read_ahead;  // of each pass
  // Of each pass: the encoded form of the echo window, which always fits, and what its re-used form
  // would take.
  std::uint64_t window_floor_bytes = 0;
  std::uint64_t window_wish_bytes = 0;
  // Shared with the items, which may outlive everything else here.
  std::shared_ptr<StreamCounters> counters = std::make_shared<StreamCounters>();
  // The stream cannot go on. Any thread; the first one counts.
  std::function<void(const Status&)> fail;
};

}  // namespace echoline::engine
