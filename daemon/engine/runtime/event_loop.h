// A thread that runs posted tasks one after the other, and optionally a tick a hundred times a
// second.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

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
  bool post(std::function<void()> task);
  // Runs `task` on the loop's thread and waits for its end; on the loop's thread itself, or after
  // stop(), it runs at once on the caller's.
  void run(const std::function<void()>& task);
  // Runs what has been posted, then ends the thread. Not from the loop's own thread.
  void stop();

 private:
  // The thread: sleeps until a task is posted or the next tick is due.
  void loop(const char* name);
  // With the lock held: runs all posted tasks, each without the lock.
  void run_tasks(std::unique_lock<std::mutex>& lock);

  const std::function<void()> tick_;
  std::mutex mutex_;  // guards tasks_ and stopping_
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace echoline::engine
