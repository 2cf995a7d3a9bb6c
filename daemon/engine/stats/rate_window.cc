#include "engine/stats/rate_window.h"

#include <utility>

namespace echoline::engine {
namespace {

template <typename Array>
Array less(const Array& later, const Array& earlier) {
  Array difference{};
  for (std::size_t i = 0; i < later.size(); ++i) difference[i] = later[i] - earlier[i];
  return difference;
}

}  // namespace

RecentStats operator-(const RecentStats& later, const RecentStats& earlier) {
  RecentStats difference{.passed_ns = later.passed_ns - earlier.passed_ns,
                         .samples_fresh = later.samples_fresh - earlier.samples_fresh,
                         .samples_echoed = later.samples_echoed - earlier.samples_echoed,
                         .batches = later.batches - earlier.batches,
                         .source_bytes = later.source_bytes - earlier.source_bytes,
                         .cache_hits = later.cache_hits - earlier.cache_hits,
                         .cache_misses = later.cache_misses - earlier.cache_misses,
                         .attached_ns = later.attached_ns - earlier.attached_ns,
                         .wait_ns = less(later.wait_ns, earlier.wait_ns),
                         .source_wait_ns = less(later.source_wait_ns, earlier.source_wait_ns)};
  // Stages are compared by their index, as far as both have them.
  for (std::size_t i = 0; i < later.stages.size() && i < earlier.stages.size(); ++i) {
    const StageStats& now = later.stages[i];
    const StageStats& then = earlier.stages[i];
    difference.stages.push_back({.stage = now.stage,
                                 .busy_ns = now.busy_ns - then.busy_ns,
                                 .starved_ns = now.starved_ns - then.starved_ns,
                                 .blocked_ns = now.blocked_ns - then.blocked_ns});
  }
  return difference;
}

void RateWindow::note(RecentStats totals) {
  // So the oldest note is nine to ten seconds old.
  if (noted_.size() == kSteps) noted_.pop_front();
  noted_.push_back(std::move(totals));
}

RecentStats RateWindow::until(const RecentStats& totals) const {
  return noted_.empty() ? RecentStats() : totals - noted_.front();
}

}  // namespace echoline::engine
