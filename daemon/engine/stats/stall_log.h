// Says in the log when trainers of a stream wait long for a batch, and for what.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "engine/api/stats.h"

namespace echoline::engine {

// One per stream, looked at every tick. Not thread safe.
class StallLog {
 public:
  // `stall_ns`: how long a wait is before it has a line.
  explicit StallLog(std::uint64_t stall_ns) : stall_ns_(stall_ns) {}

  struct Note {
    std::string text;     // the line to log, or empty
    bool begins = false;  // it is the first of its wait
  };
  // `waited_ns`: how long the trainer that has waited longest has waited by now; 0: none waits.
  // There is a line when the wait reaches stall_ns, and one when it is over. Trainers write their
  // waits themselves, so no two waits have lines within stall_ns. `here`: the trainer of the wait
  // before this look is still attached.
  Note note(std::uint64_t waited_ns, WaitCause cause, bool here, std::uint64_t now_ns);

 private:
  const std::uint64_t stall_ns_;
  std::uint64_t waited_ns_ = 0;  // at the last look
  bool stalled_ = false;         // the first line was returned
  std::uint64_t next_ns_ = 0;    // no first line before this time
  // Ticks of this wait by cause.
  std::array<std::uint64_t, kWaitCauseNames.size()> ticks_{};
};

}  // namespace echoline::engine
