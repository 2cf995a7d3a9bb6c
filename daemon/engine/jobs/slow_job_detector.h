// Which jobs of a pass fall behind so far that the others are to be freed of them (semantics.md,
// Jobs and passes).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/api/job.h"
#include "engine/api/slow_policy.h"

namespace echoline::engine {

class SlowJobDetector {
 public:
  explicit SlowJobDetector(const SlowPolicy& policy) : policy_(policy) {}

  // Where one trainer of a pass stands, in rows since the stream's first one.
  struct Reading {
    Job job;
    std::uint64_t next_row = 0;  // of the next batch that it will be given
    bool waits = false;          // else it may be at work on the batch before that
  };
  struct SlowJob {
    Job job;
    std::uint64_t rows = 0;  // that another job is done with, and this one was not given
    bool operator==(const SlowJob&) const = default;
  };
  // Those behind by the lag or more, once one of them was in every look of the last second; a job
  // is where its last rank is. All trainers of `pass` are given each time.
  std::vector<SlowJob> look(const void* pass, const std::vector<Reading>& readings,
                            std::uint64_t now_ns);
  void forget(const void* pass) { behind_since_ns_.erase(pass); }

 private:
  const SlowPolicy policy_;
  std::map<const void*, std::map<Job, std::uint64_t>> behind_since_ns_;
};

}  // namespace echoline::engine
