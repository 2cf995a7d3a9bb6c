// The cache's side of a fetcher: which records the cache serves, which requests follow a record
// that is already being fetched, and which runs the fleet is asked for before they go to the store.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "batch/sample_cache.h"
#include "cache/levels.h"
#include "engine/fetch/cache_threads.h"
#include "engine/fetch/fetch_meter.h"
#include "engine/fetch/fetch_trace.h"
#include "engine/fetch/request_coalescer.h"

namespace echoline::engine {

// What is kept from epoch to epoch; null where the stream has no such cache. Both outlive the
// fetcher.
struct Caches {
  cache::Levels* levels = nullptr;        // encoded records
  batch::SampleCache* samples = nullptr;  // decoded ones, which need no bytes
  std::uint32_t fetchers = 1;             // that share them
};

// The requests of a run: one shard, ascending.
using FetchRun = std::vector<FetchRequest>;

// A request's way: memory; else the disk, if it holds the record; else the coalescer, where
// neighbours meet. A run of them asks the fleet just before it would go to the store, so that what
// a host claims to fetch is fetched at once. A record that will be kept is never fetched twice at a
// time: later requests for it follow the first.
//
// Called by the fetcher's thread. Its cache threads post their answers, which take_answers reads.
class CacheRouter {
 public:
  // `wake` is called by cache threads when an answer has been posted.
  CacheRouter(Caches caches, RequestCoalescer& coalescer, FetchMeter& meter,
              const FetchTrace& trace, std::function<void()> wake);
  // Ends the cache threads.
  void stop();

  // Delivers the request from a cache, or hands it to the disk's threads. False if the store or the
  // fleet is needed.
  bool serve(FetchRequest& request);
  // Starts the disk reads that serve has collected.
  void read_disk();
  // Requests that would go to the store now: asks the caches once more. Returns the runs that the
  // store has to read; requests for the fleet return with a later take_answers.
  std::vector<FetchRun> route(FetchRun run);
  // What the cache threads have answered: returns the runs that the store has to read.
  std::vector<FetchRun> take_answers(std::uint64_t now_ns);
  // Gives back to the coalescer what has waited long enough for another host.
  void retry_waiting(std::uint64_t now_ns);

  // Bytes of the request have come from the store: hands them to the levels that keep the record.
  void keep(FetchRequest& request, const std::shared_ptr<const Buffer>& bytes);
  // The record is no longer being fetched: requests that followed it are served, or go their own
  // way.
  void release(std::uint64_t record);

  // Runs that the fleet is asked for; each has a place at the store reserved.
  std::size_t asked_runs() const { return asked_runs_; }
  // The fleet is asked, or another host fetches what is wanted.
  bool is_at_fleet() const { return asked_runs_ > 0 || !waiting_.empty(); }
  bool has_fleet() const { return caches_.levels != nullptr && caches_.levels->has_fleet(); }
  // False while the fleet is filled more slowly than the store delivers.
  bool has_room_for_fills() const { return threads_ == nullptr || threads_->has_room_for_fills(); }
  // When retry_waiting has work; UINT64_MAX if nothing waits.
  std::uint64_t next_retry_ns() const;

 private:
  // From what needs no look-up by another thread: decoded samples and memory.
  bool serve_at_once(FetchRequest& request);
  // Whether an earlier request fetches the record and will keep it; then this one waits for it.
  bool follow(FetchRequest& request);
  // Counts each request's miss once; returns the runs that the store reads.
  std::vector<FetchRun> count_misses(FetchRun run);
  // Of the cache threads: queues an answer and wakes the fetcher.
  void post(CacheAnswer answer);
  // Appends the runs that the store has to read to `to_store`.
  void take_answer(CacheAnswer answer, std::uint64_t now_ns, std::vector<FetchRun>& to_store);

  const Caches caches_;
  RequestCoalescer& coalescer_;
  FetchMeter& meter_;
  const FetchTrace& trace_;
  const std::function<void()> wake_;
  std::size_t asked_runs_ = 0;
  std::vector<FetchRequest> disk_run_;
  // Another host fetches these; by the time to ask the fleet again.
  std::multimap<std::uint64_t, FetchRequest> waiting_;
  // Records that are being fetched and will be kept, with the requests that follow them.
  std::unordered_map<std::uint64_t, std::vector<FetchRequest>> fetching_;

  Mutex mutex_;  // no other lock is taken under it
  std::vector<CacheAnswer> answers_ ECHOLINE_GUARDED_BY(mutex_);
  std::unique_ptr<CacheThreads> threads_;  // null without disk and fleet; last: they post answers
};

}  // namespace echoline::engine
