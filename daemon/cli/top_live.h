// The live terminal view of `echoline top`.
#pragma once

#include <chrono>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"
#include "cli/stats_watcher.h"

namespace echoline::cli {

// Receives the signals that end or stop the process, and those about its terminal, through a
// descriptor: their default actions would not restore the terminal. Create it before any thread.
class TerminalSignals {
 public:
  TerminalSignals();
  int fd() const { return fd_.get(); }
  // The next signal received; 0: none.
  int take() const;

 private:
  UniqueFd fd_;
};

// Runs until the user quits or a signal ends it. If the daemon goes away, it waits for its return.
// Shows `stream` first, or the first stream if it is empty. Returns an error if no daemon answers
// at the start, or if it has no such stream.
Status run_live_top(StatsWatcher& watcher, const TerminalSignals& signals,
                    std::chrono::milliseconds interval, const std::string& stream);

}  // namespace echoline::cli
