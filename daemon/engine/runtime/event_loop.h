// A thread that does one thing after the other: what trainers ask for, and a tick a hundred times a
// second.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace echoline::engine {

// Any thread may post.
class EventLoop {
 public:
  explicit EventLoop(std::function<void()> tick);
  ~EventLoop();
  void post(std::function<void()> item);
  // Does what has been posted, then ends; later posts are dropped.
  void stop();

 private:
  void run();

  const std::function<void()> tick_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> items_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace echoline::engine
