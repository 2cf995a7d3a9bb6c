#include "serve/process/idle_exit.h"

#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "base/log.h"
#include "config/values.h"

namespace echoline::serve {

void wait_for_stop_or_idle(StopSignal& stop, std::uint64_t limit_ns,
                           const std::function<std::size_t()>& connections) {
  if (limit_ns == 0) return stop.wait();
  // Between two looks. A trainer that attaches and leaves between them restarts nothing: the
  // error is at most this pause.
  const auto pause =
      std::chrono::milliseconds(std::clamp<std::uint64_t>(limit_ns / 10'000'000, 1, 1000));
  std::uint64_t used_ns = monotonic_ns();
  while (!stop.wait_for(pause)) {
    const std::uint64_t now_ns = monotonic_ns();
    if (connections() > 0) used_ns = now_ns;
    if (now_ns - used_ns < limit_ns) continue;
    log_info("serve", "stopping: no trainer for {} (daemon.exit_when_idle)",
             config::format_duration(limit_ns));
    return;
  }
}

}  // namespace echoline::serve
