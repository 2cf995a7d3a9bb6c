#include "engine/open/step_account.h"

namespace echoline::engine {

void StepAccount::add(const StepTimes& times, std::uint64_t rows, bool first_use) {
  const MutexLock lock(mutex_);
  for (const StepTimes::Entry& entry : times.entries()) {
    Cost& cost = totals_.steps[*entry.step];
    cost.rows += rows;
    cost.ns += rows * entry.ns;
  }
  (first_use ? totals_.first_rows : totals_.again_rows).add(times.wall_ns(), rows);
  totals_.timed_ns += times.wall_ns();
  totals_.timed_cpu_ns += times.cpu_ns();
}

StepAccount::Totals StepAccount::totals() const {
  const MutexLock lock(mutex_);
  return totals_;
}

}  // namespace echoline::engine
