#include "engine/stats/trainer_clock.h"

#include <algorithm>
#include <utility>

namespace echoline::engine {

void TrainerClock::tick(std::uint64_t passed_ns, const std::vector<SlowestTrainer>& passes) {
  std::map<const void*, Seen> seen;
  for (const SlowestTrainer& one : passes) {
    seen[one.pass] = {one.trainers, one.released};
    const auto before = seen_.find(one.pass);
    // A trainer that comes or goes may make another one the slowest: its count is no progress.
    if (before == seen_.end() || before->second.trainers != one.trainers) continue;
    work_.units += one.released - std::min(before->second.released, one.released);
  }
  seen_ = std::move(seen);
  const auto working = std::ranges::count(passes, false, &SlowestTrainer::waits);
  if (working == 0) return;
  work_.spent_ns += passed_ns * static_cast<std::uint64_t>(working) / passes.size();
}

}  // namespace echoline::engine
