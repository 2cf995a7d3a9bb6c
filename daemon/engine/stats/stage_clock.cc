#include "engine/stats/stage_clock.h"

#include <algorithm>

namespace echoline::engine {

StageClock::StageClock(const StreamCore& core, std::uint32_t workers)
    : core_(core),
      workers_(workers),
      ratio_({.batch_rows = core.plan->spec().batch_rows,
              .workers = workers,
              .record_bytes = core.data_set->index().record_bytes_mean(),
              .decodes_each_use = core.plan->spec().echo_point == plan::EchoPoint::kRecord}) {}

void StageClock::tick(std::uint64_t now_ns, const StageView& view) {
  // The first tick only sets the clock.
  const std::uint64_t passed_ns = last_ns_ == 0 ? 0 : now_ns - last_ns_;
  last_ns_ = now_ns;
  tick_fetch(passed_ns, view);
  tick_prep(passed_ns, view);
  tick_publish(passed_ns, view);
  trainers_.tick(passed_ns, view.slowest);
  tick_ratio();
}

void StageClock::tick_fetch(std::uint64_t passed_ns, const StageView& view) {
  const std::uint64_t busy_ns = core_.fetchers->counters().busy_ns;
  // The clock of the ticks is read earlier: what is more than this tick took counts with the next.
  const std::uint64_t busy = std::min(busy_ns - fetch_busy_seen_ns_, passed_ns);
  fetch_busy_seen_ns_ += busy;
  fetch_.busy_ns += busy;
  // The rest: what is requested waits for the store's pause, or nothing is requested, because later
  // stages have no room.
  (view.fetch_waits ? fetch_.starved_ns : fetch_.blocked_ns) += passed_ns - busy;
}

void StageClock::tick_prep(std::uint64_t passed_ns, const StageView& view) {
  const StreamCounters& counters = *core_.counters;
  const std::uint64_t busy_ns = counters.prepare_first_ns.load(std::memory_order_relaxed) +
                                counters.prepare_again_ns.load(std::memory_order_relaxed);
  // All workers together. The pool is shared, so this is an upper bound for one stream.
  const std::uint64_t all_ns = passed_ns * workers_;
  const std::uint64_t busy = std::min(busy_ns - prep_busy_seen_ns_, all_ns);
  prep_busy_seen_ns_ += busy;
  prep_.busy_ns += busy;
  // Idle workers are blocked if no slot is free, else they wait for bytes.
  (view.held_up ? prep_.blocked_ns : prep_.starved_ns) += all_ns - busy;
}

void StageClock::tick_publish(std::uint64_t passed_ns, const StageView& view) {
  const std::uint64_t busy_ns = core_.counters->publish_ns.load(std::memory_order_relaxed);
  // Of several passes it can be more than the time.
  const std::uint64_t busy = std::min(busy_ns - publish_busy_seen_ns_, passed_ns);
  publish_busy_seen_ns_ += busy;
  publish_.busy_ns += busy;
  (view.held_up ? publish_.blocked_ns : publish_.starved_ns) += passed_ns - busy;
}

std::vector<StageStats> StageClock::stages() const { return {fetch_, prep_, publish_}; }

void StageClock::tick_ratio() {
  const StreamCounters& counters = *core_.counters;
  const FetchCounters fetched = core_.fetchers->counters();
  // Bytes of answers that were not records, such as gaps between them, leave the sum when the
  // answer is complete. A read of 16 MiB and more comes in several answers.
  arrived_ = std::max(arrived_, fetched.bytes + core_.fetchers->source_counters().arriving);
  ratio_.see({.fetch = {fetch_.busy_ns, arrived_},
              .records = fetched.records,
              .record_bytes = fetched.bytes,
              .first = {counters.prepare_first_ns.load(), counters.prepare_first_rows.load()},
              .again = {counters.prepare_again_ns.load(), counters.prepare_again_rows.load()},
              .trained = trainers_.work()});
}

}  // namespace echoline::engine
