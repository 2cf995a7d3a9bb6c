// The part of the fetcher that deals with time: what its thread does with it, and how long it may
// sleep.

#include <algorithm>

#include "engine/fetch/fetcher.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kPollNs = 100'000'000;
constexpr std::uint64_t kFullPollNs = 2'000'000;  // while the fleet is filled too slowly

}  // namespace

Fetcher::Work Fetcher::work_at_hand() const {
  if (!requests_.empty()) return Work::kAtStore;
  if (!book_.empty()) return Work::kHeldUp;
  return waiting_.load(std::memory_order_relaxed) > 0 ? Work::kAtCache : Work::kNone;
}

// All since the last call, by what the thread had to do when it went to sleep.
void Fetcher::account_time(Work work, std::uint64_t now_ns) {
  const std::uint64_t passed = now_ns - accounted_until_ns_;
  accounted_until_ns_ = now_ns;
  if (work == Work::kAtStore) store_ns_ += passed;
  if (work == Work::kAtStore || work == Work::kAtCache) {
    busy_ns_.fetch_add(passed, std::memory_order_relaxed);
  } else if (work == Work::kNone) {
    idle_ns_.fetch_add(passed, std::memory_order_relaxed);
  }
}

std::uint64_t Fetcher::next_deadline(std::uint64_t now_ns) const {
  std::uint64_t deadline = now_ns + kPollNs;
  if (pause_until_ns_ > now_ns) deadline = std::min(deadline, pause_until_ns_);
  if (!asleep_.empty()) deadline = std::min(deadline, asleep_.begin()->first);
  const bool full = cache_threads_ != nullptr && !cache_threads_->has_room_for_fills();
  return full ? std::min(deadline, now_ns + kFullPollNs) : deadline;
}

FetchCounters Fetcher::counters() const {
  return {.records = records_.load(std::memory_order_relaxed),
          .bytes = bytes_.load(std::memory_order_relaxed),
          .busy_ns = busy_ns_.load(std::memory_order_relaxed),
          .idle_ns = idle_ns_.load(std::memory_order_relaxed),
          .waiting = waiting_.load(std::memory_order_relaxed),
          .agreed = agreed_.load(std::memory_order_relaxed),
          .disagreed = disagreed_.load(std::memory_order_relaxed)};
}

}  // namespace echoline::engine
