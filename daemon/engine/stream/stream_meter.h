// Measures a stream: charges the waits of its trainers to their causes, and sums what metrics and
// the verdict need.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/api/stats.h"
#include "engine/jobs/consumers.h"
#include "engine/jobs/reported_losses.h"
#include "engine/open/stream_core.h"
#include "engine/stats/rate_window.h"
#include "engine/stats/stage_clock.h"
#include "engine/stats/wait_places.h"
#include "engine/stream/pass_set.h"
#include "engine/stream/stall_watch.h"

namespace echoline::engine {

// Under the registry's lock. What it refers to outlives it.
class StreamMeter {
 public:
  StreamMeter(const StreamCore& core, Consumers& consumers, const PassSet& passes,
              const PendingRanks& pending_ranks, std::uint32_t workers)
      : core_(core),
        consumers_(consumers),
        passes_(passes),
        stages_(core, workers),
        stall_watch_(core, consumers, passes, pending_ranks) {}

  // At every tick. Logs long waits, and notifies those who wait. Returns the trainers whose cursor
  // page holds impossible values.
  std::vector<std::uint64_t> tick(std::uint64_t now_ns, std::vector<TrainerNotice>& notices);

  // The counters of a trainer belong to its job and rank, not to one attachment: an attachment
  // continues where the one before ended.
  void begin(Consumer& consumer, bool reattaches);
  // The trainer is about to be removed.
  void end(Consumer& consumer, std::uint64_t now_ns);

  // Fills in waits, stages, rates, slots and trainers.
  void report(StreamStats& stats, std::uint64_t now_ns) const;
  // Adds waits that have not ended to the trace.
  void trace_unfinished(std::uint64_t now_ns);
  const RatioMeter& ratio() const { return stages_.ratio(); }

 private:
  // Charges what the trainer waited since it was last looked at; returns its cursor page.
  ring::ReaderView charge(Consumer& consumer, std::uint64_t now_ns);
  void charge_waits(Consumer& consumer, const ring::ReaderView& view, std::uint64_t now_ns);
  // Charges a wait for bytes to the place where they are; returns its name.
  const char* charge_fetch(std::uint64_t waited_ns, std::uint64_t now_ns);
  // Adds what was charged to the trace, if there is one.
  void trace_wait(Consumer& consumer, const WaitSpans::Look& look);
  // Counters since the stream's creation.
  RecentStats totals(std::uint64_t now_ns) const;
  // Fills in rings, slots and read-ahead.
  void report_passes(StreamStats& stats) const;
  // Fills in the trainers with their positions, lags and waits.
  void report_trainers(StreamStats& stats) const;

  const StreamCore& core_;
  Consumers& consumers_;
  const PassSet& passes_;
  StageClock stages_;
  RateWindow rate_window_;
  StallWatch stall_watch_;
  DetachedCounters detached_;
  ReportedLosses losses_;
  // Over all trainers, also those that have detached:
  std::array<std::uint64_t, 5> waited_ns_{};  // by WaitCause
  WaitPlaces wait_places_;
  std::uint64_t attached_ns_ = 0;
  std::uint64_t ticked_ns_ = 0;
};

}  // namespace echoline::engine
