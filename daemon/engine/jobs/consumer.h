// Who reads a stream: jobs, and the trainers that are their ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/api/attach.h"
#include "engine/api/job.h"
#include "engine/pass/pass.h"
#include "engine/stats/wait_ledger.h"
#include "plan/position.h"

namespace echoline::engine {

// One trainer process at one rank of one job.
struct Consumer {
  std::uint64_t connection = 0;
  Peer peer;
  std::uint64_t begin_ticks = 0;  // of its process (base/process.h)
  Job job;
  std::uint32_t rank = 0;
  std::uint32_t local_ranks = 1;   // of the job, on this host
  std::uint32_t layout_minor = 0;  // that its client library reads
  plan::Position start;
  std::uint64_t attached_ns = 0;
  bool told_of_missing = false;  // jobs of publish.jobs
  std::shared_ptr<Pass> pass;
  std::uint64_t reader = 0;
  // It was told to attach again, to another pass, and until then counts as gone from this one. One
  // that does not come in time is busy or stopped.
  bool moving = false;
  std::uint64_t moving_until_ns = 0;
  WaitLedger waits;

  // The next row it will be given.
  plan::Position position() const { return pass->ring().view(reader).next; }
};

}  // namespace echoline::engine
