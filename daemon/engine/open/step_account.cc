#include "engine/open/step_account.h"

namespace echoline::engine {

void StepAccount::add(const StepTimes& times, std::uint64_t rows, std::uint64_t timed) {
  const MutexLock lock(mutex_);
  for (const StepTimes::Entry& entry : times.entries()) {
    Cost& cost = totals_.steps[*entry.step];
    cost.rows += rows;
    cost.ns += rows * entry.ns / timed;
  }
  totals_.timed_ns += times.wall_ns();
  totals_.timed_cpu_ns += times.cpu_ns();
}

StepAccount::Totals StepAccount::totals() const {
  const MutexLock lock(mutex_);
  return totals_;
}

}  // namespace echoline::engine
