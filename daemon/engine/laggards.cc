#include "engine/laggards.h"

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

std::vector<Laggards::Laggard> Laggards::look(const void* pass,
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
  std::vector<Laggard> laggards;
  for (const auto& [job, place] : places) {
    if (foremost_row < place.next_row + policy_.lag_rows) {
      since_ns.erase(job);
      continue;
    }
    const std::uint64_t begin_ns = since_ns.emplace(job, now_ns).first->second;
    if (now_ns - begin_ns >= kPatienceNs) laggards.push_back({job, foremost_row - place.next_row});
  }
  return laggards;
}

}  // namespace echoline::engine
