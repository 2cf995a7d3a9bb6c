// What happens to jobs that fall behind the others of their pass (publish.when_slow): the others
// continue in a pass of their own. The slow jobs stay, as a stopped process can neither move nor
// copy the batches that it looks at: their ring remains as it is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/api/attach.h"
#include "engine/api/stats.h"
#include "engine/jobs/consumers.h"
#include "engine/jobs/pending_ranks.h"
#include "engine/jobs/slow_job_detector.h"
#include "engine/open/stream_core.h"
#include "engine/stream/pass_set.h"

namespace echoline::engine {

// Under the registry's lock. What it refers to outlives it.
class JobSplitter {
 public:
  JobSplitter(const StreamCore& core, Consumers& consumers, PassSet& passes,
              PendingRanks& pending_ranks)
      : core_(core),
        consumers_(consumers),
        passes_(passes),
        pending_ranks_(pending_ranks),
        detector_(core.slow) {}

  // A split that is due: the pass with the slow jobs, and the pass that the others need.
  struct Request {
    std::shared_ptr<Pass> pass;
    Pass::Options options;
  };
  // At every tick. Trainers that did not move in time count as readers of their old pass again.
  std::optional<Request> look(std::uint64_t now_ns);

  // The pass of a request was built: adds it to the stream's passes and notifies the other jobs to
  // move to it. Returns false, and changes nothing, if no job is slow any more. Under `detach` the
  // caller then ends the pass of the slow jobs.
  bool split(const Request& request, const std::shared_ptr<Pass>& built, std::uint64_t now_ns,
             std::vector<TrainerNotice>& notices);
  // It could not be built: all jobs wait for the slow one; the next try is in some seconds.
  void note_refused(const Request& request, const Status& why, std::uint64_t now_ns);

  void forget(const Pass& pass) { detector_.forget(&pass); }
  const SlowCounts& counts() const { return counts_; }

 private:
  using SlowJobs = std::vector<SlowJobDetector::SlowJob>;

  // The slow jobs of a pass; none while it is not yet certain.
  SlowJobs slow_jobs_of(const std::shared_ptr<Pass>& pass, std::uint64_t now_ns);
  // The smallest position of the trainers that are not slow.
  plan::Position start_of_others(const std::shared_ptr<Pass>& pass, const SlowJobs& slow) const;
  // Notifies a trainer that its job moves on without the slow one.
  void move(Consumer& consumer, const Request& request, const std::shared_ptr<Pass>& built,
            const std::string& why, std::uint64_t now_ns, std::vector<TrainerNotice>& notices);

  const StreamCore& core_;
  Consumers& consumers_;
  PassSet& passes_;
  PendingRanks& pending_ranks_;
  SlowJobDetector detector_;
  SlowCounts counts_;
  std::uint64_t retry_ns_ = 0;  // not before this time: there was no memory
};

}  // namespace echoline::engine
