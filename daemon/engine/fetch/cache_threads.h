// The threads that wait for disk and fleet, so that the fetcher's own, which polls the store, never
// does.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "cache/levels.h"
#include "engine/fetch/request_coalescer.h"
#include "engine/runtime/byte_share.h"

namespace echoline::engine {

// What became of orders that were looked up.
struct CacheAnswer {
  bool of_fleet = false;
  std::vector<FetchRequest> to_store;    // to be fetched by this daemon
  std::vector<FetchRequest> waiting;     // another host fetches it: to be asked again
  std::vector<FetchRequest> again;       // was not there after all
  std::vector<std::uint64_t> delivered;  // records that were
};

// Any thread may call any of it. Work is bounded by the read-ahead, fills by kFillBytesMax and the
// one request that passes it. Outlives the shares it gives.
class CacheThreads {
 public:
  static constexpr std::uint64_t kFillBytesMax = 64 << 20;

  // Both are called from these threads.
  struct Hooks {
    std::function<void(FetchRequest&, std::shared_ptr<const Buffer>)> deliver;
    std::function<void(CacheAnswer)> answer;
  };
  CacheThreads(cache::Levels& levels, Hooks hooks);
  ~CacheThreads() { stop(); }
  // What is still to be written to the disk is, for a second or two; other work is dropped.
  void stop();

  void read_disk(std::vector<FetchRequest> orders);
  void ask_fleet(std::vector<FetchRequest> orders);
  void fill_fleet(std::uint64_t record, std::shared_ptr<const Buffer> value, ByteShare share);
  // There is something to be written to the disk.
  void wake_fills() { fill_work_.notify_one(); }
  // A share of the fills, to be taken before the record is fetched: what is under way comes, too.
  ByteShare take_fill_share(std::uint64_t bytes) { return {fill_bytes_, bytes}; }
  // While there is none, nothing more should be fetched for the fleet.
  bool has_room_for_fills() const {
    return fill_bytes_.load(std::memory_order_relaxed) < kFillBytesMax;
  }

 private:
  struct Job {
    bool of_fleet;
    std::vector<FetchRequest> orders;
  };
  struct Fill {
    std::uint64_t record = 0;
    std::shared_ptr<const Buffer> value;
    ByteShare share;
  };

  void push(Job job);
  void run_lookups();
  void run_fills();
  void read_from_disk(std::vector<FetchRequest> orders);
  void look_in_fleet(std::vector<FetchRequest> orders);
  void sort_misses(std::vector<FetchRequest*>& missed, std::vector<cache::FleetQuery*>& queries,
                   CacheAnswer& answer);
  void deliver(FetchRequest& order, std::shared_ptr<const Buffer> bytes, cache::Level level,
               std::uint64_t spent_ns);
  bool fill_one();
  void write_the_rest();

  cache::Levels& levels_;
  const Hooks hooks_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable fill_work_;
  std::atomic<std::uint64_t> fill_bytes_{0};  // before the shares of it
  std::deque<Job> jobs_;
  std::deque<Fill> fills_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace echoline::engine
