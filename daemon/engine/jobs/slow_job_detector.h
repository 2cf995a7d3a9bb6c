// Finds the jobs of a pass that fall behind so far that the other jobs continue without them
// (semantics.md, Jobs and passes).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/api/job.h"
#include "engine/api/slow_policy.h"

namespace echoline::engine {

// Decides from numbers alone. One thread at a time.
class SlowJobDetector {
 public:
  explicit SlowJobDetector(const SlowPolicy& policy) : policy_(policy) {}

  // The progress of one trainer of a pass, in rows since the stream's first one.
  struct Progress {
    Job job;
    std::uint64_t next_row = 0;  // of the next batch that it will be given
    bool waits = false;          // else it may still work on the batch before that
  };
  struct SlowJob {
    Job job;
    std::uint64_t rows = 0;  // that another job has finished, and this one was not given
    bool operator==(const SlowJob&) const = default;
  };
  // The jobs that are behind by the allowed lag or more, once one of them was so at every look of
  // the last second. A job is as far as its last rank. `pass` is a key; `trainers` are all of it.
  std::vector<SlowJob> look(const void* pass, const std::vector<Progress>& trainers,
                            std::uint64_t now_ns);
  void forget(const void* pass) { behind_since_ns_.erase(pass); }

 private:
  const SlowPolicy policy_;
  std::map<const void*, std::map<Job, std::uint64_t>> behind_since_ns_;
};

}  // namespace echoline::engine
