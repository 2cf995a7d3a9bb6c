#include "engine/jobs/slow_job_detector.h"

#include <algorithm>

namespace echoline::engine {
namespace {

// What a garbage collection, a checkpoint or a page fault takes is no falling behind.
constexpr std::uint64_t kPatienceNs = 1'000'000'000;

// All ranks of a job together.
struct Place {
  std::uint64_t next_row = ~std::uint64_t{0};
  std::uint64_t done_row = ~std::uint64_t{0};
};

}  // namespace

std::vector<SlowJobDetector::SlowJob> SlowJobDetector::look(const void* pass,
                                                            const std::vector<Reading>& readings,
                                                            std::uint64_t now_ns) {
  if (policy_.action == SlowPolicy::Action::kWait) return {};
  std::map<Job, Place> places;
  for (const Reading& reading : readings) {
    const std::uint64_t held_rows = reading.waits ? 0 : reading.job.batch_size;
    Place& place = places[reading.job];
    place.next_row = std::min(place.next_row, reading.next_row);
    place.done_row =
        std::min(place.done_row, reading.next_row - std::min(held_rows, reading.next_row));
  }
  std::uint64_t foremost_row = 0;
  for (const auto& [job, place] : places) foremost_row = std::max(foremost_row, place.done_row);
  std::map<Job, std::uint64_t>& since_ns = behind_since_ns_[pass];
  std::erase_if(since_ns, [&](const auto& entry) { return !places.contains(entry.first); });
  std::vector<SlowJob> laggards;
  bool for_long = false;
  for (const auto& [job, place] : places) {
    const std::uint64_t most_rows =
        policy_.ring_rows - std::min<std::uint64_t>(policy_.ring_rows, job.batch_size);
    const std::uint64_t lag_rows =
        std::max<std::uint64_t>(1, std::min(policy_.lag_rows, most_rows));
    if (foremost_row < place.next_row + lag_rows) {
      since_ns.erase(job);
      continue;
    }
    const std::uint64_t begin_ns = since_ns.emplace(job, now_ns).first->second;
    for_long |= now_ns - begin_ns >= kPatienceNs;
    laggards.push_back({job, foremost_row - place.next_row});
  }
  return for_long ? laggards : std::vector<SlowJob>();
}

}  // namespace echoline::engine
