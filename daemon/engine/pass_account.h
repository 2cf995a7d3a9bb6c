// Counts what the items of one pass keep in memory, within the pass's share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "echo/item.h"
#include "engine/stream_core.h"

namespace echoline::engine {

class PassAccount : public echo::Account {
 public:
  PassAccount(std::shared_ptr<StreamCounters> counters, std::uint64_t kept_bytes_max)
      : counters_(std::move(counters)), kept_bytes_max_(kept_bytes_max) {}

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

 private:
  const std::shared_ptr<StreamCounters> counters_;
  const std::uint64_t kept_bytes_max_;
  std::atomic<std::uint64_t> kept_bytes_{0};
};

}  // namespace echoline::engine
