// What the steps of a stream cost, from rows that are timed in full and represent those between.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/mutex.h"
#include "base/step_times.h"

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
    std::uint64_t timed_ns = 0;      // of the timed rows only
    std::uint64_t timed_cpu_ns = 0;  // CPU time of these
  };

  // A timed row, or `timed` that were made together; it represents `rows` of them.
  void add(const StepTimes& times, std::uint64_t rows, std::uint64_t timed = 1)
      ECHOLINE_EXCLUDES(mutex_);
  Totals totals() const ECHOLINE_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;  // no other lock is taken under it
  Totals totals_ ECHOLINE_GUARDED_BY(mutex_);
};

}  // namespace echoline::engine
