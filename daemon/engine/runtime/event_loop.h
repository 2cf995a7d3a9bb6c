// A thread that runs posted tasks one after the other, and optionally a tick a hundred times a
// second.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <thread>

#include "base/mutex.h"

namespace echoline::engine {

// Any thread may post and stop. Tasks and ticks run on the loop's own thread, without its lock, in
// the order of their posting. A task must not throw.
class EventLoop {
 public:
  // `name`: of the thread, at most 15 characters. Without a `tick` the thread only runs tasks.
  explicit EventLoop(const char* name, std::function<void()> tick = {});
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // False after stop(): the task is dropped.
  bool post(std::function<void()> task) ECHOLINE_EXCLUDES(mutex_);
  // Runs `task` on the loop's thread and waits for its end; on the loop's thread itself, or after
  // stop(), it runs at once on the caller's.
  void run(const std::function<void()>& task) ECHOLINE_EXCLUDES(mutex_);
  // Runs what has been posted, then ends the thread. Not from the loop's own thread.
  void stop() ECHOLINE_EXCLUDES(mutex_);

 private:
  // The thread: sleeps until a task is posted or the next tick is due.
  void loop(const char* name);

  const std::function<void()> tick_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> tasks_ ECHOLINE_GUARDED_BY(mutex_);
  bool stopping_ ECHOLINE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace echoline::engine
