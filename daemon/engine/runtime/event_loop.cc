#include "engine/runtime/event_loop.h"

#include <chrono>
#include <utility>

#include "engine/runtime/worker_pool.h"

namespace echoline::engine {
namespace {

constexpr std::chrono::milliseconds kTick{10};

}  // namespace

EventLoop::EventLoop(std::function<void()> tick)
    : tick_(std::move(tick)), thread_([this] { run(); }) {}

EventLoop::~EventLoop() { stop(); }

void EventLoop::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void EventLoop::post(std::function<void()> item) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    items_.push_back(std::move(item));
  }
  changed_.notify_one();
}

void EventLoop::run() {
  name_thread("engine");
  auto next_tick = std::chrono::steady_clock::now() + kTick;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait_until(lock, next_tick, [this] { return stopping_ || !items_.empty(); });
    if (stopping_ && items_.empty()) return;
    while (!items_.empty()) {
      const std::function<void()> item = std::move(items_.front());
      items_.pop_front();
      lock.unlock();
      item();
      lock.lock();
    }
    const auto now = std::chrono::steady_clock::now();
    if (now < next_tick) continue;
    next_tick = now + kTick;
    lock.unlock();
    tick_();
    lock.lock();
  }
}

}  // namespace echoline::engine
