// The I/O thread of one stream: brings the bytes of ordered records from cache or source to their
// items.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "cache/memory_cache.h"
#include "engine/coalesce.h"
#include "source/source.h"

namespace echoline::engine {

struct FetchCounters {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t busy_ns = 0;  // with a request in flight
  std::uint64_t idle_ns = 0;  // with nothing ordered
  std::uint64_t waiting = 0;  // records ordered and not yet there
};

// Any thread may order. The source is used by this thread alone from `start` on.
class Fetcher {
 public:
  struct Options {
    bool wait_on_error = true;  // go on trying while a store is out of reach, else fail
    std::uint64_t reach = 0;    // of a request, in orders: the window over which the order is mixed
  };
  // Called from the I/O thread when the stream cannot go on: the data changed, or the store
  // refused.
  using FailureFunction = std::function<void(const Status&)>;

  Fetcher(std::unique_ptr<source::Source> source, const record::Index& index,
          cache::MemoryCache* cache, Options options, FailureFunction on_failure);
  ~Fetcher();
  // Ends the I/O thread; what is ordered later never comes. Not from that thread itself.
  void stop();

  // Orders whose item nobody else holds any more are dropped.
  void order(std::vector<Order> orders);
  FetchCounters counters() const;
  source::Counters source_counters() const { return source_->counters(); }

 private:
  struct Request {
    std::vector<Order> orders;
    std::vector<Buffer> buffers;
  };

  void run();
  void take_in();
  void submit(std::vector<Order> orders);
  void finish(source::ReadResult result);
  void deliver(Order& order, Buffer bytes);
  void retry_or_fail(Request request, const Status& status);
  void account_time(std::uint64_t now_ns);
  std::uint64_t next_deadline(std::uint64_t now_ns) const;

  std::unique_ptr<source::Source> source_;
  const record::Index& index_;
  cache::MemoryCache* const cache_;
  const Options options_;
  const FailureFunction on_failure_;

  std::mutex mutex_;
  std::vector<Order> incoming_;
  std::atomic<bool> stopping_{false};

  // Of the I/O thread:
  OrderBook book_;
  std::unordered_map<std::uint64_t, Request> requests_;
  std::uint64_t next_tag_ = 0;
  bool failed_ = false;
  std::uint64_t pause_until_ns_ = 0;  // after a failure, no request before
  std::uint64_t pause_ns_ = 0;
  std::uint64_t accounted_until_ns_ = 0;

  std::atomic<std::uint64_t> records_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> busy_ns_{0};
  std::atomic<std::uint64_t> idle_ns_{0};
  std::atomic<std::uint64_t> waiting_{0};
  std::thread thread_;
};

}  // namespace echoline::engine
