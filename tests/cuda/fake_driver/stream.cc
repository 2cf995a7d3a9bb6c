#include "cuda/fake_driver/stream.h"

#include <algorithm>
#include <thread>

#include "cuda/fake_driver/driver.h"

namespace echoline::cuda_test {

void Stream::start() {
  ++driver_.threads;
  std::thread([self = shared_from_this()] { self->serve(); }).detach();
}

void Stream::push(Operation operation) {
  queue_.push_back(std::move(operation));
  driver_.changed.notify_all();
}

void Stream::close() {
  closed_ = true;
  driver_.changed.notify_all();
}

std::size_t Stream::pending() const {
  return static_cast<std::size_t>(
      std::count_if(queue_.begin(), queue_.end(),
                    [](const Operation& operation) { return !operation.internal; }));
}

bool Stream::uses(const HostRange& range) const {
  return std::any_of(queue_.begin(), queue_.end(),
                     [&](const Operation& operation) { return operation.host.overlaps(range); });
}

void Stream::serve() {
  std::unique_lock lock(driver_.mutex);
  for (;;) {
    driver_.changed.wait(lock, [this] { return !queue_.empty() || closed_; });
    if (queue_.empty()) break;
    complete_first(lock);
    queue_.pop_front();
    ++complete_;
    driver_.changed.notify_all();
  }
  std::erase(context->streams, shared_from_this());
  --driver_.threads;
  driver_.changed.notify_all();
}

void Stream::complete_first(std::unique_lock<std::mutex>& lock) {
  Operation& operation = queue_.front();
  driver_.changed.wait(lock, [&] {
    const bool due = operation.awaited == nullptr || operation.awaited->complete;
    return context->lost() || (due && !stuck);
  });
  if (operation.run != nullptr && !context->lost()) {
    const Pause pause = [this](std::chrono::microseconds time) {
      std::unique_lock paused(driver_.mutex);
      if (time.count() == 0) return !context->lost();  // even a wait of zero takes time
      return !driver_.changed.wait_for(paused, time, [this] { return context->lost(); });
    };
    lock.unlock();
    Code code = operation.run(pause);
    lock.lock();
    if (code == kSuccess) code = driver_.faults.next("async").code;
    if (context->error == kSuccess) context->error = code;
  }
  if (operation.record != nullptr) {
    operation.record->when = std::chrono::steady_clock::now();
    operation.record->complete = true;
  }
}

}  // namespace echoline::cuda_test
