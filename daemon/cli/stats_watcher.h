// Watches the daemon's counters on a thread, and connects again when the daemon has gone away.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "base/status.h"
#include "base/unique_fd.h"
#include "cli/control_client.h"

namespace echoline::cli {

// One thread owns and calls it. Its threads inherit the signals that the owner has blocked.
class StatsWatcher {
 public:
  struct News {
    std::optional<v1::WatchStatsResponse> answer;  // the latest, unless it was taken already
    bool reconnected = false;  // not comparable with answers before: it may be another daemon's
    // Ok while the daemon answers. kUnavailable: retrying. Any other error is final.
    Status status;
    std::uint64_t answered_ns = 0;  // monotonic, of the latest answer; 0: there was none
  };

  StatsWatcher(DaemonOptions daemon, std::chrono::milliseconds interval);
  StatsWatcher(const StatsWatcher&) = delete;
  StatsWatcher& operator=(const StatsWatcher&) = delete;
  ~StatsWatcher();

  // A descriptor that is readable while there are news; take() resets it.
  int fd() const { return event_.get(); }
  News take();

 private:
  void listen();
  // Runs one call until it ends.
  Status listen_once();
  // Whether to retry after a call that ended with this status: not while the owner stops.
  bool wait_to_retry(const Status& ended);

  const DaemonOptions daemon_;
  const std::chrono::milliseconds interval_;
  UniqueFd event_;
  Mutex mutex_;
  CondVar stopped_;
  bool stop_ ECHOLINE_GUARDED_BY(mutex_) = false;
  News news_ ECHOLINE_GUARDED_BY(mutex_);
  // The running call, so that the destructor can cancel it.
  StatsCall* call_ ECHOLINE_GUARDED_BY(mutex_) = nullptr;
  std::thread listener_;
};

// An error if the daemon has no stream of this name; "" is always ok.
Status known_stream(const std::string& name, const v1::WatchStatsResponse& answer);

}  // namespace echoline::cli
