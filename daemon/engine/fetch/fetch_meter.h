// Counts what a fetcher does and what its thread's time goes into.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/buffer.h"
#include "base/mutex.h"
#include "engine/fetch/request_coalescer.h"

namespace echoline::engine {

// What the fetcher's thread waits for.
enum class FetchWork : std::uint8_t { kAtStore, kAtServers, kAtDisk, kAtFleet, kHeldUp, kNone };

struct FetchCounters {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t busy_ns = 0;   // with a request in flight
  std::uint64_t idle_ns = 0;   // with nothing requested
  std::uint64_t store_ns = 0;  // of busy_ns, with a read at the store; the rest: only at caches
  std::uint64_t store_records = 0;  // that came from the store
  std::uint64_t waiting = 0;        // records requested and not delivered
  // Records from the store that were compared with their checksum, or with another answer.
  std::uint64_t agreed = 0;
  std::uint64_t disagreed = 0;
  std::uint64_t repeated = 0;
  std::uint64_t replaced = 0;
  FetchWork present = FetchWork::kNone;  // what the thread waits for now
  std::uint64_t checksum_bytes = 0;      // memory of checksums that are not in the index

  // Adds all numbers; `present` stays.
  FetchCounters& operator+=(const FetchCounters& other);
};

// Any thread, except sleep, wake, count_stored and store_ns_per_byte: the fetcher's thread.
class FetchMeter {
 public:
  explicit FetchMeter(std::uint64_t now_ns) : accounted_until_ns_(now_ns) {}

  void count_requested(std::size_t count) { waiting_.fetch_add(count, kRelaxed); }
  // Hands the bytes to the request's item and counts them.
  void deliver(FetchRequest& request, std::shared_ptr<const Buffer> bytes,
               echo::Form form = echo::Form::kEncoded);
  // Removes the requests whose item has no other holder.
  void drop_unwanted(std::vector<FetchRequest>& requests);
  void count_checked(record::AnswerVerdict verdict);

  // The thread goes to sleep, for this.
  void sleep(FetchWork work, std::uint64_t now_ns) ECHOLINE_EXCLUDES(mutex_);
  // Charges the time since the last call to what the thread slept for.
  void wake(std::uint64_t now_ns) ECHOLINE_EXCLUDES(mutex_);
  void count_stored(std::uint64_t bytes) {
    store_bytes_ += bytes;
    store_records_.fetch_add(1, kRelaxed);
  }
  // What a byte from the store costs in time; 0 while unknown.
  double store_ns_per_byte() const;

  std::uint64_t waiting() const { return waiting_.load(kRelaxed); }
  // At this moment: what the thread sleeps for counts already. No number ever falls, but `waiting`.
  FetchCounters counters() const ECHOLINE_EXCLUDES(mutex_);

 private:
  struct Times {
    std::uint64_t busy_ns = 0;
    std::uint64_t idle_ns = 0;
    std::uint64_t store_ns = 0;  // for store_bytes_
    void charge(FetchWork work, std::uint64_t passed_ns);
  };
  static constexpr auto kRelaxed = std::memory_order_relaxed;

  mutable Mutex mutex_;
  Times times_ ECHOLINE_GUARDED_BY(mutex_);
  std::uint64_t accounted_until_ns_ ECHOLINE_GUARDED_BY(mutex_);
  std::uint64_t asleep_since_ns_ ECHOLINE_GUARDED_BY(mutex_) = 0;  // 0: the thread is awake
  // By counters(), of the present sleep.
  mutable std::uint64_t seen_until_ns_ ECHOLINE_GUARDED_BY(mutex_) = 0;
  FetchWork present_ ECHOLINE_GUARDED_BY(mutex_) = FetchWork::kNone;
  std::uint64_t store_bytes_ = 0;
  std::atomic<std::uint64_t> records_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> waiting_{0};
  std::atomic<std::uint64_t> store_records_{0};
  std::atomic<std::uint64_t> agreed_{0};
  std::atomic<std::uint64_t> disagreed_{0};
  std::atomic<std::uint64_t> repeated_{0};
  std::atomic<std::uint64_t> replaced_{0};
};

}  // namespace echoline::engine
