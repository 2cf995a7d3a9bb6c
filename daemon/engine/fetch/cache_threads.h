// The threads that block on disk and fleet, so that the fetcher's own thread, which polls the
// store, never does.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/mutex.h"
#include "cache/levels.h"
#include "engine/fetch/fetch_trace.h"
#include "engine/fetch/request_coalescer.h"
#include "engine/runtime/byte_share.h"

namespace echoline::engine {

// The result of a look-up.
struct CacheAnswer {
  bool of_fleet = false;
  std::vector<FetchRequest> to_store;    // this daemon fetches them
  std::vector<FetchRequest> waiting;     // another host fetches them: ask the fleet again
  std::vector<FetchRequest> again;       // not on the disk after all, or unwanted
  std::vector<std::uint64_t> delivered;  // records that were delivered
};

// Any thread may call any method. Look-ups are bounded by the read-ahead, fills by this fetcher's
// part of kFillBytesMax and the one request that exceeds it.
class CacheThreads {
 public:
  static constexpr std::uint64_t kFillBytesMax = 64 << 20;  // of all fetchers of a stream

  // Both are called from these threads.
  struct Hooks {
    std::function<void(FetchRequest&, std::shared_ptr<const Buffer>)> deliver;
    std::function<void(CacheAnswer)> answer;
  };
  // `fetchers`: how many share the levels, each with threads of its own.
  CacheThreads(cache::Levels& levels, const FetchTrace& trace, std::uint32_t fetchers, Hooks hooks);
  ~CacheThreads() { stop(); }
  // Finishes pending writes to the disk for up to two seconds; other work is dropped.
  void stop();

  void read_disk(std::vector<FetchRequest> requests);
  void ask_fleet(std::vector<FetchRequest> requests);
  void fill_fleet(std::uint64_t record, std::shared_ptr<const Buffer> value, ByteShare share);
  // The disk cache has pending writes.
  void wake_fills() { fill_work_.notify_one(); }
  // A share of the fills' bytes. Taken before the record is fetched, so that records in flight
  // count, too.
  ByteShare take_fill_share(std::uint64_t bytes) { return {fill_bytes_, bytes}; }
  // While this is false, nothing more should be fetched for the fleet.
  bool has_room_for_fills() const {
    return fill_bytes_->load(std::memory_order_relaxed) < fill_bytes_max_;
  }

 private:
  struct Job {
    bool of_fleet;
    std::vector<FetchRequest> requests;
  };
  struct Fill {
    std::uint64_t record = 0;
    std::shared_ptr<const Buffer> value;
    ByteShare share;
  };

  // Queues a lookup.
  void push(Job job);
  // The body of a lookup thread, and of the fill thread.
  void run_lookups(std::uint32_t thread);
  void run_fills();
  // One job of a lookup thread.
  void read_from_disk(std::vector<FetchRequest> requests, std::uint32_t thread);
  void look_in_fleet(std::vector<FetchRequest> requests, std::uint32_t thread);
  // Decides for each miss of the fleet whether this host fetches it or waits for another one.
  void sort_misses(std::vector<FetchRequest*>& missed, std::vector<cache::FleetQuery*>& queries,
                   CacheAnswer& answer);
  // Counts the hit, offers the bytes to the other levels and hands them to the item.
  void deliver(FetchRequest& request, std::shared_ptr<const Buffer> bytes, cache::Level level,
               std::uint64_t spent_ns);
  // Writes the oldest fill to the fleet; false if there is none.
  bool fill_one();

  cache::Levels& levels_;
  const FetchTrace& trace_;
  const Hooks hooks_;
  const std::uint64_t fill_bytes_max_;
  Mutex mutex_;
  CondVar work_;
  CondVar fill_work_;
  const ByteSum fill_bytes_ = std::make_shared<std::atomic<std::uint64_t>>(0);
  std::deque<Job> jobs_ ECHOLINE_GUARDED_BY(mutex_);
  std::deque<Fill> fills_ ECHOLINE_GUARDED_BY(mutex_);
  bool stopping_ ECHOLINE_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace echoline::engine
