// The I/O thread of one stream: brings the bytes of ordered records from cache or store to their
// items.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "batch/sample_cache.h"
#include "cache/levels.h"
#include "engine/fetch/cache_threads.h"
#include "engine/fetch/request_coalescer.h"
#include "source/core/source.h"

namespace echoline::engine {

struct FetchCounters {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t busy_ns = 0;  // with a request in flight
  std::uint64_t idle_ns = 0;  // with nothing ordered
  std::uint64_t waiting = 0;  // records ordered and not yet there
  // Records from the store, by whether they agreed with their checksum in the index.
  std::uint64_t agreed = 0;
  std::uint64_t disagreed = 0;
};

// Any thread may order. The source is used by this thread alone from `start` on; disk and fleet
// have threads of their own beside it.
//
// An order's way: memory, else disk if it holds the record, else the book, where neighbours meet;
// a run of them asks the fleet just before it would go to the store, so that what a host claims to
// fetch is fetched at once. One record that is to be kept is never fetched twice at a time: who
// orders it meanwhile follows the first.
class Fetcher {
 public:
  struct Options {
    bool wait_on_error = true;  // go on trying while a store is out of reach, else fail
    std::uint64_t reach = 0;    // of a request, in orders: the window over which the order is mixed
  };
  // What is kept from epoch to epoch; null where the stream has no such cache. Outlives the
  // fetcher.
  struct Caches {
    cache::Levels* levels = nullptr;        // encoded records
    batch::SampleCache* samples = nullptr;  // decoded ones, which need no bytes
  };
  // Called from the I/O thread when the stream cannot go on: the data changed, or the store
  // refused.
  using FailureFunction = std::function<void(const Status&)>;

  Fetcher(std::unique_ptr<source::Source> source, const record::Index& index, Caches caches,
          Options options, FailureFunction on_failure);
  ~Fetcher();
  // Ends the I/O thread; what is ordered later never comes. Not from that thread itself.
  void stop();

  // Orders whose item nobody else holds any more are dropped.
  void order(std::vector<FetchRequest> orders);
  FetchCounters counters() const;
  source::Counters source_counters() const { return source_->counters(); }

 private:
  struct Request {
    std::vector<FetchRequest> orders;
    std::vector<std::shared_ptr<Buffer>> buffers;
  };

  void run();
  void take_in();
  void deliver(FetchRequest& order, std::shared_ptr<const Buffer> bytes);

  // In fetcher_clock.cc:
  enum class Work : std::uint8_t { kAtStore, kAtCache, kHeldUp, kNone };
  Work work_at_hand() const;
  void account_time(Work work, std::uint64_t now_ns);
  std::uint64_t next_deadline(std::uint64_t now_ns) const;

  // The store's side:
  void pump(std::uint64_t now_ns);
  void submit(std::vector<FetchRequest> orders);
  void finish(source::ReadResult result);
  bool accept(FetchRequest& order, std::span<const std::byte> bytes);
  void fail(const Status& status);
  void retry_or_fail(Request request, const Status& status);

  // The cache's side, in fetcher_cache.cc:
  bool serve(FetchRequest& order);
  bool follow(FetchRequest& order);
  void release(std::uint64_t record);
  void route(std::vector<FetchRequest> run);
  void stage(std::vector<FetchRequest> run);
  void read_disk();
  void take_answer(CacheAnswer answer);
  void ask_again(std::uint64_t now_ns);
  void answered(CacheAnswer answer);
  void keep(FetchRequest& order, const std::shared_ptr<const Buffer>& bytes);
  void drop_unwanted(std::vector<FetchRequest>& orders);

  std::unique_ptr<source::Source> source_;
  const record::Index& index_;
  const Caches caches_;
  const Options options_;
  const FailureFunction on_failure_;

  std::unique_ptr<CacheThreads> cache_threads_;  // null without disk and fleet
  std::mutex mutex_;
  std::vector<FetchRequest> incoming_;
  std::vector<CacheAnswer> answers_;
  std::atomic<bool> stopping_{false};

  // Of the I/O thread:
  RequestCoalescer book_;
  std::deque<std::vector<FetchRequest>> ready_;  // runs for the store, waiting for a place there
  std::size_t asked_ = 0;                        // runs that the fleet is asked for
  std::vector<FetchRequest> disk_run_;           // for the cache's threads
  std::multimap<std::uint64_t, FetchRequest>
      asleep_;  // another host fetches it; by when to ask again
  // Records that are to be kept and on their way, with those who ordered them meanwhile.
  std::unordered_map<std::uint64_t, std::vector<FetchRequest>> under_way_;
  std::unordered_map<std::uint64_t, Request> requests_;
  std::uint64_t next_tag_ = 0;
  bool failed_ = false;
  std::uint64_t pause_until_ns_ = 0;  // after a failure, no request before
  std::uint64_t pause_ns_ = 0;
  std::uint64_t accounted_until_ns_ = 0;
  std::uint64_t store_ns_ = 0;  // with requests in flight, for store_bytes_
  std::uint64_t store_bytes_ = 0;

  std::atomic<std::uint64_t> records_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> busy_ns_{0};
  std::atomic<std::uint64_t> idle_ns_{0};
  std::atomic<std::uint64_t> waiting_{0};
  std::atomic<std::uint64_t> agreed_{0};
  std::atomic<std::uint64_t> disagreed_{0};
  std::thread thread_;
};

}  // namespace echoline::engine
