// What the trainers of a stream report of their losses, by job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "echoline/shm/ring_layout.h"
#include "engine/api/stats.h"

namespace echoline::engine {

// Keeps the figures of jobs whose trainers have left: the comparison is wanted after the training,
// too. Bounded in jobs. Under the registry's lock.
class ReportedLosses {
 public:
  static constexpr std::size_t kJobsMax = 64;

  // Adds what a trainer's page claims beyond `seen`, which becomes what it claims. Impossible
  // values add nothing.
  void see(const std::string& job, const shm::LossFigures& claimed, shm::LossFigures& seen);
  // The jobs, by name.
  std::vector<ReportedLoss> report() const;

 private:
  struct Job {
    ReportedLoss losses;
    std::uint64_t used = 0;  // the turn of its last report
  };
  // Takes the place of the job that has not reported for longest, if there are too many.
  ReportedLoss& of(const std::string& job);

  std::vector<Job> jobs_;
  std::uint64_t turn_ = 0;
};

}  // namespace echoline::engine
