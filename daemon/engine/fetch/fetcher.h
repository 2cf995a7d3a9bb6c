// The I/O thread of one source of a stream: brings the bytes of requested records from cache or
// store to their items.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "engine/fetch/cache_router.h"
#include "engine/fetch/fetch_meter.h"
#include "engine/fetch/fetch_trace.h"
#include "engine/fetch/remote_reader.h"
#include "engine/fetch/request_coalescer.h"
#include "engine/fetch/store_reader.h"
#include "engine/runtime/agent.h"
#include "engine/runtime/agent_thread.h"
#include "source/core/source.h"

namespace echoline::engine {

// Any thread may request. The source is used by the fetcher's thread alone; disk and fleet have
// threads of their own (cache_threads.h).
class Fetcher : public Agent {
 public:
  using Caches = engine::Caches;
  struct Options {
    bool wait_on_error = true;  // keep trying while a store is out of reach, else fail
    std::uint64_t reach = 0;    // how much later a request may come and still join (coalescer)
    std::uint32_t source = 0;   // its number, for traces
    bool own_thread = true;     // else use_servers() starts it, or the caller runs do_work()
    std::shared_ptr<trace::Recorder> recorder = std::make_shared<trace::Recorder>();
  };
  // Called from the I/O thread when the stream cannot continue: the data changed, or the store
  // refused.
  using FailureFunction = std::function<void(const Status&)>;

  Fetcher(std::unique_ptr<source::Source> source, const record::Index& index, Caches caches,
          Options options, FailureFunction on_failure);
  ~Fetcher() override { stop(); }
  // From now on records come from preparation servers, as decoded samples, as far as servers can be
  // reached. Starts the thread. Once, before the first request. Errors: the files, or, with
  // `check`, servers that refuse.
  Status use_servers(RemoteReaderOptions options, bool check);
  // Ends the I/O thread; records requested later never arrive. Not from that thread itself.
  void stop();

  // Requests whose item has no other holder are dropped.
  void request(std::vector<FetchRequest> requests);
  FetchCounters counters() const;
  source::Counters source_counters() const { return store_.counters(); }
  std::vector<source::EndpointRates> store_rates() const { return store_.rates(); }
  // Null where nothing is prepared elsewhere.
  const RemoteReader* remote() const { return remote_.get(); }
  const ReadsInFlight& reads() const { return store_.reads(); }

  // Agent. The step blocks in the source's poll, which wake() ends.
  bool do_work() override;
  void wait() override {}
  void wake() override { store_.wake(); }

 private:
  // Takes new requests and the cache's answers.
  void take_in(std::uint64_t now_ns);
  // Moves runs from the coalescer to the store or the servers, as far as they have slots.
  void fill_slots(std::uint64_t now_ns);
  // Delivers frames; what servers cannot prepare goes to the store.
  void take_remote();
  // Whether the next run goes to a server. Nothing: it has to wait.
  std::optional<bool> next_goes_remote(std::uint64_t now_ns) const;
  // Handles the result of one ranged read: delivers its records or requests them again.
  void finish(source::ReadResult result, std::uint64_t now_ns);
  // Checks one record's bytes, segment `segment` of `read`, then keeps and delivers them, or
  // requests them again.
  void finish_record(FetchRequest& request, std::shared_ptr<Buffer> bytes,
                     const source::ReadResult& read, std::size_t segment);
  // Queues runs until the store has slots for them.
  void add_to_store(std::vector<FetchRun> runs);
  // Reports the error that ends the stream; nothing is requested any more.
  void fail(const Status& status);
  // What the thread waits for now, for the accounting of its time.
  FetchWork present_work() const;
  // When the thread has work again without being woken.
  std::uint64_t next_deadline(std::uint64_t now_ns) const;

  const record::Index& index_;
  const FailureFunction on_failure_;
  const FetchTrace trace_;
  FetchMeter meter_;
  RequestCoalescer coalescer_;
  StoreReader store_;
  CacheRouter cache_;
  std::unique_ptr<RemoteReader> remote_;  // it wakes the store's poll
  bool failed_ = false;

  Mutex mutex_;  // no other lock is taken under it
  std::vector<FetchRequest> incoming_ ECHOLINE_GUARDED_BY(mutex_);
  AgentThread thread_;
};

}  // namespace echoline::engine
