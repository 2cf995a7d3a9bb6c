#include "user_code/thread_workers.h"

#include <chrono>
#include <utility>

namespace echoline::user_code {
namespace {

constexpr std::chrono::milliseconds kStartLook{100};

}  // namespace

Result<std::unique_ptr<Worker>> ThreadWorkers::take(const Patience& patience) {
  {
    MutexLock lock(mutex_);
    while (is_starting_) {
      if (patience.stopping != nullptr && patience.stopping->load())
        return Status(Code::kCancelled, "the pass has ended");
      started_.wait_until(lock, std::chrono::steady_clock::now() + kStartLook);
    }
    if (!rest_.empty() && rest_.back()->is_alive()) {
      std::unique_ptr<Worker> worker = std::move(rest_.back());
      rest_.pop_back();
      return worker;
    }
    rest_.clear();
    is_starting_ = true;
  }
  Result<std::vector<std::unique_ptr<Worker>>> workers =
      Worker::start_threads(function_, function_.workers);
  std::unique_ptr<Worker> first;
  if (workers.ok()) {
    first = std::move(workers->back());
    workers->pop_back();
    const Outcome& outcome = first->await_loaded(patience);
    // It has the GIL: the other threads do not run.
    if (outcome.ended != Ended::kReply || outcome.reply.threads < 2) workers->clear();
    for (const std::unique_ptr<Worker>& worker : *workers) worker->loaded_as(outcome);
  }
  {
    const MutexLock lock(mutex_);
    is_starting_ = false;
    if (workers.ok()) rest_ = std::move(*workers);
  }
  started_.notify_all();
  if (!workers.ok()) return workers.status();
  return first;
}

}  // namespace echoline::user_code
