#include "engine/open/step_account.h"

namespace echoline::engine {

void StepAccount::add(const StepTimes& times, const Timed& timed) {
  const MutexLock lock(mutex_);
  for (const StepTimes::Entry& entry : times.entries()) {
    Cost& cost = totals_.steps[*entry.step];
    cost.rows += timed.represented;
    cost.ns += timed.represented * entry.ns / timed.rows;
  }
  RowTimes& row_times = timed.first_use ? totals_.first_rows : totals_.again_rows;
  row_times.add(times.wall_ns() / timed.rows, timed.represented);
  totals_.timed_ns += times.wall_ns();
  totals_.timed_cpu_ns += times.cpu_ns();
}

StepAccount::Totals StepAccount::totals() const {
  const MutexLock lock(mutex_);
  return totals_;
}

}  // namespace echoline::engine
