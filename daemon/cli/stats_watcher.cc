// Each retry creates a new client: gRPC's own reconnects back off up to minutes.
#include "cli/stats_watcher.h"

#include <sys/eventfd.h>

#include <algorithm>

#include "base/clock.h"
#include "cli/stream_text.h"

namespace echoline::cli {
namespace {

constexpr std::chrono::milliseconds kRetryPause{500};

}  // namespace

StatsWatcher::StatsWatcher(DaemonOptions daemon, std::chrono::milliseconds interval)
    : daemon_(std::move(daemon)),
      interval_(interval),
      event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      listener_([this] { listen(); }) {}

StatsWatcher::~StatsWatcher() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
    if (call_ != nullptr) call_->cancel();
  }
  stopped_.notify_all();
  listener_.join();
}

StatsWatcher::News StatsWatcher::take() {
  eventfd_t times = 0;
  ::eventfd_read(event_.get(), &times);
  const MutexLock lock(mutex_);
  News taken = news_;
  news_.answer.reset();
  news_.reconnected = false;
  return taken;
}

void StatsWatcher::listen() {
  while (wait_to_retry(listen_once())) {
  }
}

Status StatsWatcher::listen_once() {
  const std::unique_ptr<ControlClient> client = ControlClient::open(daemon_);
  const std::unique_ptr<StatsCall> call = client->watch(interval_);
  {
    const MutexLock lock(mutex_);
    // Under the lock: the destructor either sets stop_ before this, or finds call_ and cancels it.
    if (stop_) return Status(Code::kCancelled, "stopped");
    call_ = call.get();
  }
  bool first = true;
  Result<v1::WatchStatsResponse> answer = call->next();
  for (; answer.ok(); answer = call->next()) {
    {
      const MutexLock lock(mutex_);
      // `reconnected` stays set until take() has delivered it, also over several answers.
      news_ = {std::move(answer).value(), first || news_.reconnected, Status(), monotonic_ns()};
    }
    first = false;
    ::eventfd_write(event_.get(), 1);
  }
  // Before the call is destroyed, so that the destructor of the watcher never cancels a dead one.
  const MutexLock lock(mutex_);
  call_ = nullptr;
  return answer.status();
}

bool StatsWatcher::wait_to_retry(const Status& ended) {
  MutexLock lock(mutex_);
  if (stop_) return false;
  news_.status = ended;
  ::eventfd_write(event_.get(), 1);
  if (ended.code() != Code::kUnavailable) return false;
  const auto until = std::chrono::steady_clock::now() + kRetryPause;
  while (!stop_ && stopped_.wait_until(lock, until)) {
  }
  return !stop_;
}

Status known_stream(const std::string& name, const v1::WatchStatsResponse& answer) {
  std::vector<std::string> known;
  for (const v1::StreamStatus& stream : answer.streams()) known.push_back(stream.name());
  const bool there = name.empty() || std::find(known.begin(), known.end(), name) != known.end();
  return there ? Status() : unknown_stream(name, known);
}

}  // namespace echoline::cli
