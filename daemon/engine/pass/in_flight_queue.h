// The batches of a pass that have a slot and are not published yet, in plan order.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "base/mutex.h"
#include "engine/pass/in_flight_batch.h"

namespace echoline::engine {

// Called by the pass's thread, except head, second and size (any thread).
class InFlightQueue {
 public:
  bool empty() const { return batches_.empty(); }
  bool first_is_done() const { return !batches_.empty() && batches_.front()->done(); }
  void push(std::shared_ptr<InFlightBatch> batch) {
    batches_.push_back(std::move(batch));
    update_head();
  }
  std::shared_ptr<InFlightBatch> take_first() {
    std::shared_ptr<InFlightBatch> first = std::move(batches_.front());
    batches_.pop_front();
    update_head();
    return first;
  }
  void clear() {
    batches_.clear();
    update_head();
  }

  // The next one to be published, and the one behind it; null if there is none.
  std::shared_ptr<const InFlightBatch> head() const {
    const MutexLock lock(head_mutex_);
    return head_;
  }
  std::shared_ptr<const InFlightBatch> second() const {
    const MutexLock lock(head_mutex_);
    return second_;
  }
  std::uint64_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  void update_head() {
    size_.store(batches_.size(), std::memory_order_relaxed);
    std::shared_ptr<const InFlightBatch> head = batches_.empty() ? nullptr : batches_[0];
    std::shared_ptr<const InFlightBatch> second = batches_.size() < 2 ? nullptr : batches_[1];
    {
      const MutexLock lock(head_mutex_);
      head_.swap(head);
      second_.swap(second);
    }
    // The old ones are released here, without the lock.
  }

  std::deque<std::shared_ptr<InFlightBatch>> batches_;
  std::atomic<std::uint64_t> size_{0};
  mutable Mutex head_mutex_;  // no other lock is taken under it
  std::shared_ptr<const InFlightBatch> head_ ECHOLINE_GUARDED_BY(head_mutex_);
  std::shared_ptr<const InFlightBatch> second_ ECHOLINE_GUARDED_BY(head_mutex_);
};

}  // namespace echoline::engine
