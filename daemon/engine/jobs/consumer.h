// One trainer that is attached to a stream, as a rank of a job.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/api/attach.h"
#include "engine/api/job.h"
#include "engine/jobs/trainer_counters.h"
#include "engine/pass/pass.h"
#include "engine/stats/batch_waits.h"
#include "engine/stats/present_wait.h"
#include "engine/stats/wait_ledger.h"
#include "engine/stats/wait_spans.h"
#include "plan/position.h"

namespace echoline::engine {

// A value that the stream's Consumers own. Under the registry's lock.
struct Consumer {
  std::uint64_t connection = 0;
  Peer peer;
  std::uint64_t begin_ticks = 0;  // of its process (base/process.h)
  Job job;
  std::uint32_t rank = 0;
  std::uint32_t local_ranks = 1;   // ranks of the job on this host
  bool says_local_ranks = true;    // else local_ranks are all of its job
  std::uint32_t layout_minor = 0;  // of the ring layout that its client library reads
  plan::Position start;            // the position at which it attached
  std::uint64_t attached_ns = 0;
  bool knows_missing_jobs = false;  // it was notified of the jobs of publish.jobs that are missing
  bool knows_bad_records = false;   // it, or another rank of its job, was notified of the first one
  std::shared_ptr<Pass> pass;
  std::uint64_t reader = 0;  // of the pass's ring
  // It was notified to attach again, to another pass, and until then does not count as a reader of
  // this one. If it does not come in time it is busy or stopped, and counts again.
  bool moving = false;
  std::uint64_t moving_until_ns = 0;
  WaitLedger waits;
  BatchWaits batch_waits;
  PresentWait present_wait;
  WaitSpans wait_spans;
  std::uint64_t released = 0;           // batches, when it was last looked at
  std::uint64_t released_since_ns = 0;  // since when it has released just these
  TrainerCounters before;               // of its earlier attachments
  shm::LossFigures losses{};            // that ReportedLosses has seen

  // Ranks of its job read on other hosts.
  bool has_other_hosts() const { return local_ranks < job.world_size; }
  // The next row that it will be given.
  plan::Position position() const { return pass->ring().view(reader).next; }
  // Of all its attachments.
  TrainerCounters counters(const ring::ReaderView& view) const {
    return before +
           TrainerCounters{waits.by_cause(), view.batches, view.device, batch_waits.times()};
  }
};

}  // namespace echoline::engine
