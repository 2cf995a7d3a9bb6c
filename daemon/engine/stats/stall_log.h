// Says in the log when trainers of a stream wait long for a batch, and for what.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "engine/api/stats.h"

namespace echoline::engine {

// One per stream, looked at every tick. Not thread safe. It says nothing of waits for other jobs or
// ranks: those have lines of their own (slow_job_detector.h, pending_ranks.h).
class StallLog {
 public:
  static constexpr std::uint64_t kStallNs = 10'000'000'000;

  // `waited_ns`: how long the trainer that has waited longest has waited by now; 0: none waits.
  // Returns the line to log, or an empty one: a line when the wait reaches kStallNs and one when it
  // is over. Trainers write their waits themselves, so no two waits have lines within kStallNs.
  std::string note(std::uint64_t waited_ns, WaitCause cause, std::uint64_t now_ns);

 private:
  std::uint64_t waited_ns_ = 0;  // at the last look
  bool stalled_ = false;         // the first line was returned
  std::uint64_t next_ns_ = 0;    // no first line before this time
  // Ticks of this wait by cause.
  std::array<std::uint64_t, kWaitCauseNames.size()> ticks_{};
};

}  // namespace echoline::engine
