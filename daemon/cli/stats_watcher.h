// A thread that listens to the daemon's counts, and asks again when the daemon went away.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/status.h"
#include "base/unique_fd.h"
#include "cli/control_client.h"

namespace echoline::cli {

// The owner's thread makes, asks and destroys it. Signals that the owner blocked before are blocked
// in its threads.
class StatsWatcher {
 public:
  struct News {
    std::optional<v1::WatchStatsResponse> answer;  // the latest, if it was not taken yet
    bool anew = false;  // not comparable with answers before: it may be another daemon's
    // Ok while the daemon answers. kUnavailable: it is being asked again. Any other: it is not.
    Status status;
    std::uint64_t heard_ns = 0;  // monotonic, of the latest answer; 0: there was none
  };

  StatsWatcher(DaemonOptions daemon, std::chrono::milliseconds interval);
  StatsWatcher(const StatsWatcher&) = delete;
  StatsWatcher& operator=(const StatsWatcher&) = delete;
  ~StatsWatcher();

  // Readable when there are news; take() makes it unreadable.
  int fd() const { return event_.get(); }
  News take();

 private:
  void listen();
  // One call, until it ends.
  Status listen_once();
  // Whether to ask again after a call that ended so: not when the owner has enough.
  bool wait_to_retry(const Status& ended);

  const DaemonOptions daemon_;
  const std::chrono::milliseconds interval_;
  UniqueFd event_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  News news_;
  StatsCall* call_ = nullptr;  // the running one, for its end from outside
  std::thread listener_;
};

// An error where the daemon has no stream of that name; "" is always known.
Status known_stream(const std::string& name, const v1::WatchStatsResponse& answer);

}  // namespace echoline::cli
