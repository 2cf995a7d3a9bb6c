// Counts what the items of one pass keep in memory, within the pass's share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "echo/item.h"
#include "engine/open/stream_core.h"

namespace echoline::engine {

class PassAccount : public echo::Account {
 public:
  PassAccount(std::shared_ptr<StreamCounters> counters, std::uint64_t kept_bytes_max)
      : counters_(std::move(counters)), kept_bytes_max_(kept_bytes_max) {}

  void add_ahead(std::int64_t bytes) override {
    ahead_bytes_.fetch_add(static_cast<std::uint64_t>(bytes), std::memory_order_relaxed);
  }

  void note_arrival(std::uint64_t delay_ns) override {
    std::uint64_t longest = longest_delay_ns_.load(std::memory_order_relaxed);
    while (delay_ns > longest &&
           !longest_delay_ns_.compare_exchange_weak(longest, delay_ns, std::memory_order_relaxed)) {
    }
  }
  // Since it was last asked.
  std::uint64_t take_longest_delay_ns() {
    return longest_delay_ns_.exchange(0, std::memory_order_relaxed);
  }

  bool try_keep(std::uint64_t bytes) override {
    const std::uint64_t kept = kept_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (kept > kept_bytes_max_) {
      kept_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
      return false;
    }
    counters_->window_bytes.fetch_add(bytes, std::memory_order_relaxed);
    return true;
  }

  void release_kept(std::uint64_t bytes) override {
    kept_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    counters_->window_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  }

  void add_encoded(std::int64_t bytes) override {
    counters_->encoded_bytes.fetch_add(static_cast<std::uint64_t>(bytes),
                                       std::memory_order_relaxed);
  }

  void count_used(std::uint64_t bytes) { used_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  std::uint64_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t ahead_bytes() const { return ahead_bytes_.load(std::memory_order_relaxed); }

 private:
  const std::shared_ptr<StreamCounters> counters_;
  const std::uint64_t kept_bytes_max_;
  std::atomic<std::uint64_t> kept_bytes_{0};
  std::atomic<std::uint64_t> ahead_bytes_{0};
  std::atomic<std::uint64_t> used_bytes_{0};  // for the first time
  std::atomic<std::uint64_t> longest_delay_ns_{0};
};

}  // namespace echoline::engine
