#include "engine/stats/stage_clock.h"

#include <algorithm>

namespace echoline::engine {

void StageClock::tick(std::uint64_t now_ns, const StageView& view) {
  // The first tick only sets the clock.
  const std::uint64_t passed_ns = last_ns_ == 0 ? 0 : now_ns - last_ns_;
  last_ns_ = now_ns;
  tick_fetch(passed_ns, view);
  tick_prep(passed_ns, view);
  tick_publish(passed_ns, view);
  // What trainers need for their own work: no trainer waits, so the daemon is not the limit.
  if (view.has_trainers && !view.trainer_waits) trained_ns_ += passed_ns;
}

void StageClock::tick_fetch(std::uint64_t passed_ns, const StageView& view) {
  const std::uint64_t busy_ns = core_.fetcher->counters().busy_ns;
  // The time of a request is reported when it ends, often after several ticks: what is more than
  // this tick's is counted with the next ticks.
  const std::uint64_t busy = std::min(busy_ns - fetch_busy_seen_ns_, passed_ns);
  fetch_busy_seen_ns_ += busy;
  fetch_.busy_ns += busy;
  // Fetching is the first stage: it starves by waiting for the store, and is blocked by later
  // stages.
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
  if (view.held_up) {
    publish_.blocked_ns += passed_ns;
  } else if (view.trainer_waits || !view.has_passes) {
    publish_.starved_ns += passed_ns;
  } else {
    publish_.busy_ns += passed_ns;
  }
}

std::vector<StageStats> StageClock::stages() const { return {fetch_, prep_, publish_}; }

double StageClock::upstream_downstream_ratio() const {
  const StreamCounters& counters = *core_.counters;
  const auto first_rows = static_cast<double>(counters.prepare_first_rows.load());
  const auto again_rows = static_cast<double>(counters.prepare_again_rows.load());
  const auto batches = static_cast<double>(counters.batches.load());
  const auto fetched = static_cast<double>(core_.fetcher->counters().records);
  // Each part must have been measured once: a division by zero, or a ratio of noise, otherwise.
  if (first_rows == 0 || fetched == 0 || batches == 0 || trained_ns_ == 0) return 0;
  const double batch_rows = core_.plan->spec().batch_rows;
  const double first_ns = static_cast<double>(counters.prepare_first_ns.load()) / first_rows;
  const double again_ns =
      again_rows == 0 ? 0 : static_cast<double>(counters.prepare_again_ns.load()) / again_rows;
  const double fetch_ns = static_cast<double>(fetch_.busy_ns) / fetched;
  // The cost of one use: under record echo every use decodes the record again.
  const bool decodes_each = core_.plan->spec().echo_point == plan::EchoPoint::kRecord;
  const double use_ns = decodes_each ? first_ns : again_ns;
  // Fetching and decoding run at the same time, so the slower of both counts. Decoding is spread
  // over the workers.
  const double above_ns =
      batch_rows * std::max(fetch_ns, std::max(0.0, first_ns - use_ns) / workers_);
  // In the same way: the trainer's own time for a batch, or the workers' time for its uses.
  const double below_ns =
      std::max(static_cast<double>(trained_ns_) / batches, batch_rows * use_ns / workers_);
  return above_ns / below_ns;
}

}  // namespace echoline::engine
