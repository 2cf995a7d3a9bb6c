#include "engine/jobs/trainer_counters.h"

#include <algorithm>

namespace echoline::engine {

TrainerCounters operator+(TrainerCounters one, const TrainerCounters& other) {
  for (std::size_t i = 0; i < one.wait_ns.size(); ++i) one.wait_ns[i] += other.wait_ns[i];
  one.batches += other.batches;
  one.device.batches += other.device.batches;
  one.device.uses += other.device.uses;
  one.device.bytes += other.device.bytes;
  one.device.copy_ns += other.device.copy_ns;
  one.device.wait_ns += other.device.wait_ns;
  one.batch_waits += other.batch_waits;
  return one;
}

void DetachedCounters::keep(const Job& job, std::uint32_t rank, const TrainerCounters& counters,
                            bool moving, std::uint64_t now_ns) {
  Entry& entry = kept_[{job, rank}];
  // Added to what is kept: two trainers that attached as the same rank count as one.
  entry.kept = {entry.kept.counters + counters, moving};
  entry.since_ns = now_ns;
  if (kept_.size() > kTrainersMax) forget_oldest();
}

DetachedCounters::Kept DetachedCounters::take(const Job& job, std::uint32_t rank,
                                              std::uint64_t now_ns) {
  const auto found = kept_.find({job, rank});
  if (found == kept_.end()) return {};
  // A copy, because erase() ends the entry.
  const Entry entry = found->second;
  kept_.erase(found);
  // Older than an hour: the trainer starts at zero, as a new one does.
  return now_ns < entry.since_ns + kKeepNs ? entry.kept : Kept();
}

// Linear, and only where more than kTrainersMax trainers have detached.
void DetachedCounters::forget_oldest() {
  const auto oldest = std::min_element(
      kept_.begin(), kept_.end(),
      [](const auto& a, const auto& b) { return a.second.since_ns < b.second.since_ns; });
  kept_.erase(oldest);
}

}  // namespace echoline::engine
