// The live terminal view of `echoline top`.
#pragma once

#include <chrono>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"
#include "cli/stats_watcher.h"

namespace echoline::cli {

// Signals that end or stop a process, and those that tell it of its terminal, as a descriptor that
// is readable: their own actions would leave the terminal as it is. To be made before any thread.
class TerminalSignals {
 public:
  TerminalSignals();
  int fd() const { return fd_.get(); }
  // The next that came; 0: none.
  int take() const;

 private:
  UniqueFd fd_;
};

// Until the user quits or a signal asks for the end; over the daemon's death, too, until it is
// back. `stream` is shown first, or the first one where it is empty. An error where no daemon
// answers at the start or it has no such stream.
Status run_live_top(StatsWatcher& watcher, const TerminalSignals& signals,
                    std::chrono::milliseconds interval, const std::string& stream);

}  // namespace echoline::cli
