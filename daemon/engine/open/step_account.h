// What the steps of a stream cost, from rows that are timed in full and represent those between.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/mutex.h"
#include "base/step_times.h"
#include "engine/api/stats.h"

namespace echoline::engine {

// Any thread.
class StepAccount {
 public:
  struct Cost {
    std::uint64_t rows = 0;  // that ran the step, estimated
    std::uint64_t ns = 0;    // of workers, estimated
  };
  struct Totals {
    std::map<std::string, Cost> steps;
    std::uint64_t timed_ns = 0;       // of the timed rows only
    std::uint64_t timed_cpu_ns = 0;   // CPU time of these
    RowTimes first_rows, again_rows;  // estimated, as the costs
  };

  // What was timed: one row, or several that were made together.
  struct Timed {
    std::uint64_t represented = 0;  // rows, those that were timed among them
    std::uint64_t rows = 1;
    bool first_use = false;  // they were decoded
  };
  void add(const StepTimes& times, const Timed& timed) ECHOLINE_EXCLUDES(mutex_);
  Totals totals() const ECHOLINE_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;  // no other lock is taken under it
  Totals totals_ ECHOLINE_GUARDED_BY(mutex_);
};

}  // namespace echoline::engine
