#include "engine/jobs/slow_job_detector.h"

#include <algorithm>

namespace echoline::engine {
namespace {

// A garbage collection, a checkpoint or a page fault takes less: no reason to split a pass.
constexpr std::uint64_t kPatienceNs = 1'000'000'000;

// All ranks of a job together: the last rank counts. Starts at the largest row, for std::min.
struct JobProgress {
  std::uint64_t next_row = ~std::uint64_t{0};
  std::uint64_t done_row = ~std::uint64_t{0};
};

std::map<Job, JobProgress> progress_by_job(const std::vector<SlowJobDetector::Progress>& trainers) {
  std::map<Job, JobProgress> jobs;
  for (const SlowJobDetector::Progress& trainer : trainers) {
    // A trainer that does not wait may still work on the batch before `next_row`, so that batch is
    // not finished yet.
    const std::uint64_t held_rows = trainer.waits ? 0 : trainer.job.batch_size;
    JobProgress& job = jobs[trainer.job];
    job.next_row = std::min(job.next_row, trainer.next_row);
    job.done_row = std::min(job.done_row, trainer.next_row - std::min(held_rows, trainer.next_row));
  }
  return jobs;
}

}  // namespace

std::vector<SlowJobDetector::SlowJob> SlowJobDetector::look(const void* pass,
                                                            const std::vector<Progress>& trainers,
                                                            std::uint64_t now_ns) {
  if (policy_.action == SlowPolicy::Action::kWait) return {};
  const std::map<Job, JobProgress> jobs = progress_by_job(trainers);
  std::uint64_t foremost_row = 0;
  // The foremost job counts what it has finished, the others what they were given: a job that holds
  // a batch is not slow for it.
  for (const auto& [job, progress] : jobs) foremost_row = std::max(foremost_row, progress.done_row);
  std::map<Job, std::uint64_t>& since_ns = behind_since_ns_[pass];
  std::erase_if(since_ns, [&](const auto& entry) { return !jobs.contains(entry.first); });
  std::vector<SlowJob> slow;
  bool for_long = false;
  for (const auto& [job, progress] : jobs) {
    // The ring bounds the lag: a job that delays a full ring is slow, even if publish.lag is
    // larger.
    const std::uint64_t most_rows =
        policy_.ring_rows - std::min<std::uint64_t>(policy_.ring_rows, job.batch_size);
    // At least one row: with a ring of one batch, any job would be slow otherwise.
    const std::uint64_t lag_rows =
        std::max<std::uint64_t>(1, std::min(policy_.lag_rows, most_rows));
    if (foremost_row < progress.next_row + lag_rows) {
      since_ns.erase(job);
      continue;
    }
    // The first look that finds the job behind starts its second; emplace keeps an earlier start.
    const std::uint64_t begin_ns = since_ns.emplace(job, now_ns).first->second;
    for_long |= now_ns - begin_ns >= kPatienceNs;
    slow.push_back({job, foremost_row - progress.next_row});
  }
  // All that are behind, once one of them was so for long: they leave in one move.
  return for_long ? slow : std::vector<SlowJob>();
}

}  // namespace echoline::engine
