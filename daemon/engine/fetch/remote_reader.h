// The preparation servers' side of a fetcher: cuts runs to what one request should have, and
// delivers the frames of the answers.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/fetch/cache_router.h"
#include "engine/fetch/fetch_meter.h"
#include "engine/remote/preparation_client.h"

namespace echoline::engine {

struct RemoteReaderOptions {
  RemoteOptions client;
  double growth = 1;  // bytes of a frame for each encoded byte of its record
};

// Called by the fetcher's thread; stats by any thread.
class RemoteReader {
 public:
  static constexpr std::size_t kAtOnce = 32;  // for RequestCoalescer::take

  // `wake`: as PreparationClient.
  static Result<std::unique_ptr<RemoteReader>> open(RemoteReaderOptions options, FetchMeter& meter,
                                                    std::function<void()> wake);

  // Whether to add runs here, not to the store.
  bool is_reachable() const { return client_->is_reachable(); }
  bool has_room() const { return client_->has_room(); }
  bool has_requests() const { return !in_flight_.empty(); }
  Status check() { return client_->check(); }
  void add(FetchRun run);
  // Delivers what has arrived. Returns the runs that this host has to read and decode itself.
  // Records that did not fit into their answer are appended to `again`.
  std::vector<FetchRun> take_results(FetchRun& again);

  // Runs that go to the store without being asked of a server.
  void count_local(const std::vector<FetchRun>& runs) {
    for (const FetchRun& run : runs) local_.fetch_add(run.size(), std::memory_order_relaxed);
  }

  RemoteStats stats() const {
    RemoteStats stats = client_->stats();
    stats.local_records = local_.load(std::memory_order_relaxed);
    return stats;
  }

 private:
  RemoteReader(FetchMeter& meter, double growth) : meter_(meter), growth_(growth) {}
  // `bytes`: of its frames, estimated.
  void submit(FetchRun run, double bytes);

  FetchMeter& meter_;
  const double growth_;
  std::unique_ptr<PreparationClient> client_;
  std::unordered_map<std::uint64_t, FetchRun> in_flight_;  // by tag
  std::uint64_t next_tag_ = 0;
  std::atomic<std::uint64_t> local_{0};
};

}  // namespace echoline::engine
