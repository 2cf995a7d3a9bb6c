#include "engine/fetch/cache_router.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace echoline::engine {
namespace {

// One job of the disk's threads: small enough that a few jobs keep all lookup threads busy.
constexpr std::size_t kDiskRunRequests = 16;
constexpr std::uint64_t kDiskRunBytes = 1 << 20;
// How long a request waits for another host before the fleet is asked again: twice this at first,
// then doubling.
constexpr std::uint64_t kWaitFirstNs = 2'000'000;
constexpr std::uint64_t kWaitDoublings = 5;

}  // namespace

CacheRouter::CacheRouter(Caches caches, RequestCoalescer& coalescer, FetchMeter& meter,
                         const FetchTrace& trace, std::function<void()> wake)
    : caches_(caches), coalescer_(coalescer), meter_(meter), trace_(trace), wake_(std::move(wake)) {
  // Memory and decoded samples are looked up on the fetcher's thread: only disk and fleet block.
  if (caches_.levels == nullptr) return;
  if (!caches_.levels->has_disk() && !caches_.levels->has_fleet()) return;
  const auto deliver = [this](FetchRequest& request, std::shared_ptr<const Buffer> bytes) {
    meter_.deliver(request, std::move(bytes));
  };
  const auto answer = [this](CacheAnswer given) { post(std::move(given)); };
  threads_ =
      std::make_unique<CacheThreads>(*caches_.levels, trace_, caches_.fetchers,
                                     CacheThreads::Hooks{.deliver = deliver, .answer = answer});
}

void CacheRouter::stop() {
  if (threads_ != nullptr) threads_->stop();
}

// Order of the levels: decoded samples, memory, disk. The fleet is asked later, in route().
bool CacheRouter::serve(FetchRequest& request) {
  if (serve_at_once(request)) return true;
  cache::Levels* levels = caches_.levels;
  if (levels == nullptr || request.past_cache || !levels->has_disk()) return false;
  if (!levels->holds_on_disk(request.record, request.extent.bytes)) return false;
  // The disk's threads answer later: with the bytes, or with `again` if the entry was evicted
  // meanwhile.
  disk_run_.push_back(std::move(request));
  return true;
}

bool CacheRouter::serve_at_once(FetchRequest& request) {
  const std::uint64_t begin_ns = trace_.now_ns();
  if (caches_.samples != nullptr) {
    const bool hit = caches_.samples->serves(request.record, request.extent.bytes);
    if (begin_ns != 0)
      trace_.add_look_up(trace::Kind::kSampleLookUp, request.record, hit, begin_ns);
    if (hit) {
      meter_.deliver(request, std::make_shared<Buffer>());  // the worker finds the sample
      return true;
    }
  }
  cache::Levels* levels = caches_.levels;
  // `past_cache`: the fleet has been asked, and this host fetches the record itself.
  if (levels == nullptr || request.past_cache) return false;
  const std::uint64_t memory_ns = trace_.now_ns();
  auto kept = levels->find_in_memory(request.record);
  if (memory_ns != 0) {
    trace_.add_look_up(trace::Kind::kMemoryLookUp, request.record, kept != nullptr, memory_ns);
  }
  if (kept == nullptr) return false;
  levels->count_hit(cache::Level::kMemory, kept->size(), 0);
  meter_.deliver(request, std::move(kept));
  return true;
}

// Groups the collected requests into jobs, so that one wake-up of a thread covers several records.
void CacheRouter::read_disk() {
  std::vector<FetchRequest> job;
  std::uint64_t bytes = 0;
  for (FetchRequest& request : disk_run_) {
    bytes += request.extent.bytes;
    job.push_back(std::move(request));
    if (job.size() < kDiskRunRequests && bytes < kDiskRunBytes) continue;
    threads_->read_disk(std::exchange(job, {}));
    bytes = 0;
  }
  if (!job.empty()) threads_->read_disk(std::move(job));
  disk_run_.clear();
}

// True if the record is being fetched for an earlier request and will be kept.
bool CacheRouter::follow(FetchRequest& request) {
  cache::Levels* levels = caches_.levels;
  if (levels == nullptr) return false;
  if (!levels->keeps(request.record) && !levels->belongs_to_fleet(request.record)) return false;
  // The first request owns the entry in `fetching_` until release(). Later ones wait in its list.
  const auto [first, added] = fetching_.try_emplace(request.record);
  if (!added) first->second.push_back(std::move(request));
  return !added;
}

void CacheRouter::release(std::uint64_t record) {
  if (fetching_.empty()) return;
  auto ended = fetching_.extract(record);
  // Ends the record's entry before its followers are served: a follower that still misses goes to
  // the coalescer and becomes the first of a new fetch.
  if (ended.empty()) return;
  for (FetchRequest& request : ended.mapped()) {
    if (!serve(request)) coalescer_.add(std::move(request));
  }
  read_disk();
}

std::vector<FetchRun> CacheRouter::route(FetchRun run) {
  // Before follow(): an unwanted request must not become the one that others wait for.
  meter_.drop_unwanted(run);
  FetchRun rest;
  bool ask_fleet = false;
  for (FetchRequest& request : run) {
    // Asked again, because the record may have arrived in a cache while the request waited.
    if (serve(request) || follow(request)) continue;
    if (caches_.levels != nullptr && caches_.levels->belongs_to_fleet(request.record)) {
      // Where all of them have been asked already (past_cache), the run goes directly to the store.
      ask_fleet = ask_fleet || !request.past_cache;
      // Before the record is fetched: bytes in flight will need room among the fills, too.
      request.fill = threads_->take_fill_share(request.extent.bytes);
    }
    rest.push_back(std::move(request));
  }
  read_disk();
  if (rest.empty()) return {};
  if (!ask_fleet) return count_misses(std::move(rest));
  // The run keeps a slot of the store reserved until its answer is there (has_slot_for_more).
  ++asked_runs_;
  threads_->ask_fleet(std::move(rest));
  return {};
}

// Counts each request's miss once, and cuts the run where cached records have left large gaps.
std::vector<FetchRun> CacheRouter::count_misses(FetchRun run) {
  for (FetchRequest& request : run) {
    if (caches_.samples != nullptr && !request.counted) caches_.samples->count_miss();
    if (caches_.levels != nullptr && !request.counted) caches_.levels->count_miss();
    request.counted = true;
  }
  // Only with a cache can records have left the run: follow() takes none without one.
  if (caches_.levels != nullptr) return coalescer_.cut(std::move(run));
  std::vector<FetchRun> whole;
  whole.push_back(std::move(run));
  return whole;
}

void CacheRouter::post(CacheAnswer answer) {
  {
    // Runs on a cache thread.
    const MutexLock lock(mutex_);
    answers_.push_back(std::move(answer));
  }
  wake_();
}

std::vector<FetchRun> CacheRouter::take_answers(std::uint64_t now_ns) {
  // Swapped out, so that cache threads never wait while answers are processed.
  std::vector<CacheAnswer> answers;
  {
    const MutexLock lock(mutex_);
    answers.swap(answers_);
  }
  std::vector<FetchRun> to_store;
  for (CacheAnswer& answer : answers) take_answer(std::move(answer), now_ns, to_store);
  return to_store;
}

void CacheRouter::take_answer(CacheAnswer answer, std::uint64_t now_ns,
                              std::vector<FetchRun>& to_store) {
  if (answer.of_fleet) --asked_runs_;
  for (FetchRequest& request : answer.again) coalescer_.add(std::move(request));
  for (FetchRequest& request : answer.waiting) {
    const std::uint64_t record = request.record;
    // `waits` counts this wait already: 4 ms the first time, then doubling up to 64 ms.
    const std::uint64_t wait_ns = kWaitFirstNs << std::min(request.waits, kWaitDoublings);
    // Nothing is fetched now, so no room among the fills is needed.
    request.fill = {};
    waiting_.emplace(now_ns + wait_ns, std::move(request));
    // Followers must not wait for another host, too: one may be served by a cache, the others ask
    // on their own.
    release(record);
  }
  for (const std::uint64_t record : answer.delivered) release(record);
  if (answer.to_store.empty()) return;
  std::vector<FetchRun> runs = count_misses(std::move(answer.to_store));
  std::move(runs.begin(), runs.end(), std::back_inserter(to_store));
}

void CacheRouter::retry_waiting(std::uint64_t now_ns) {
  while (!waiting_.empty() && waiting_.begin()->first <= now_ns) {
    // Before all others: these records have been wanted for the longest time.
    coalescer_.put_back(std::move(waiting_.begin()->second));
    waiting_.erase(waiting_.begin());
  }
}

std::uint64_t CacheRouter::next_retry_ns() const {
  return waiting_.empty() ? std::numeric_limits<std::uint64_t>::max() : waiting_.begin()->first;
}

void CacheRouter::keep(FetchRequest& request, const std::shared_ptr<const Buffer>& bytes) {
  // Both caches weigh what a hit saves by the present cost of a byte from the store.
  if (caches_.samples != nullptr) caches_.samples->set_store_cost(meter_.store_ns_per_byte());
  cache::Levels* levels = caches_.levels;
  if (levels == nullptr) return;
  levels->set_store_cost(meter_.store_ns_per_byte());
  levels->keep(request.record, bytes, std::nullopt);
  if (levels->belongs_to_fleet(request.record)) {
    // The share of the fills' bytes was taken in route(); it goes with the bytes and ends with the
    // write.
    threads_->fill_fleet(request.record, bytes, std::move(request.fill));
  }
  if (levels->has_pending()) threads_->wake_fills();
}

}  // namespace echoline::engine
