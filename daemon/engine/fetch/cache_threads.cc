#include "engine/fetch/cache_threads.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "base/clock.h"
#include "engine/runtime/start_threads.h"
#include "engine/runtime/worker_pool.h"

namespace echoline::engine {
namespace {

// Enough to keep a local disk busy; these threads block most of the time. Fewer for each source of
// a mixture.
constexpr std::uint32_t kLookupThreads = 4;
constexpr std::uint32_t kLookupThreadsOfSource = 2;
// How often the fill thread works on the disk without being woken: to read what other daemons
// wrote.
constexpr auto kLookEvery = std::chrono::milliseconds(100);
// How long to wait for another host that has claimed a record: twice the time that a claim lasts.
constexpr std::uint64_t kPatienceNs =
    2 * std::uint64_t{cache::FleetCache::kClaimSeconds} * 1'000'000'000;

}  // namespace

CacheThreads::CacheThreads(cache::Levels& levels, const FetchTrace& trace, std::uint32_t fetchers,
                           Hooks hooks)
    : levels_(levels),
      trace_(trace),
      hooks_(std::move(hooks)),
      fill_bytes_max_(kFillBytesMax / fetchers) {
  const std::uint32_t lookups = fetchers == 1 ? kLookupThreads : kLookupThreadsOfSource;
  const auto run = [this, lookups](std::size_t thread) {
    thread < lookups ? run_lookups(static_cast<std::uint32_t>(thread)) : run_fills();
  };
  start_threads(threads_, lookups + 1, run, [this] { stop(); });
}

void CacheThreads::stop() {
  {
    const MutexLock lock(mutex_);
    // Set under the lock: a thread that has just found the queue empty is waiting, and is woken
    // below.
    stopping_ = true;
  }
  work_.notify_all();
  fill_work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void CacheThreads::read_disk(std::vector<FetchRequest> requests) {
  push({false, std::move(requests)});
}

void CacheThreads::ask_fleet(std::vector<FetchRequest> requests) {
  push({true, std::move(requests)});
}

void CacheThreads::push(Job job) {
  {
    const MutexLock lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  work_.notify_one();
}

void CacheThreads::fill_fleet(std::uint64_t record, std::shared_ptr<const Buffer> value,
                              ByteShare share) {
  {
    const MutexLock lock(mutex_);
    fills_.push_back({record, std::move(value), std::move(share)});
  }
  fill_work_.notify_one();
}

void CacheThreads::run_lookups(std::uint32_t thread) {
  name_thread("cache");
  while (true) {
    MutexLock lock(mutex_);
    // After stop() the jobs that remain are dropped: their records are never delivered, and their
    // stream has ended.
    const std::uint64_t begin_ns = trace_.now_ns();
    while (!stopping_ && jobs_.empty()) work_.wait(lock);
    if (stopping_) return;
    if (begin_ns != 0) trace_.add_idle(thread, begin_ns);
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    // A lookup blocks on disk or network, so it runs without the lock.
    lock.unlock();
    if (job.of_fleet) {
      look_in_fleet(std::move(job.requests), thread);
    } else {
      read_from_disk(std::move(job.requests), thread);
    }
  }
}

void CacheThreads::deliver(FetchRequest& request, std::shared_ptr<const Buffer> bytes,
                           cache::Level level, std::uint64_t spent_ns) {
  // Keeps a copy in the faster levels, then wakes the chunks that wait. `keep` shares the bytes.
  levels_.count_hit(level, bytes->size(), spent_ns);
  levels_.keep(request.record, bytes, level);
  hooks_.deliver(request, std::move(bytes));
}

void CacheThreads::read_from_disk(std::vector<FetchRequest> requests, std::uint32_t thread) {
  CacheAnswer answer;
  for (FetchRequest& request : requests) {
    if (is_unwanted(request)) {
      // Returned, not dropped here: the router counts what nobody waits for (drop_unwanted).
      answer.again.push_back(std::move(request));
      continue;
    }
    const std::uint64_t begin_ns = monotonic_ns();
    auto bytes = std::make_shared<Buffer>(request.extent.bytes);
    const bool hit = levels_.read_from_disk(request.record, bytes->span());
    if (trace_.on()) trace_.add_disk_look_up(thread, request, hit, begin_ns);
    if (hit) {
      deliver(request, std::move(bytes), cache::Level::kDisk, monotonic_ns() - begin_ns);
    } else {
      answer.again.push_back(std::move(request));
    }
  }
  // Records that were delivered need no answer: no request follows a record that the disk serves.
  if (!answer.again.empty()) hooks_.answer(std::move(answer));
}

void CacheThreads::look_in_fleet(std::vector<FetchRequest> requests, std::uint32_t thread) {
  CacheAnswer answer;
  answer.of_fleet = true;
  const std::uint64_t begin_ns = monotonic_ns();
  std::vector<FetchRequest*> asked;
  std::vector<std::shared_ptr<Buffer>> buffers;
  std::vector<cache::FleetQuery> queries;
  for (FetchRequest& request : requests) {
    // Neighbours of the run that need no fleet, or were asked before, stay for the store.
    if (request.past_cache || !levels_.belongs_to_fleet(request.record)) continue;
    asked.push_back(&request);
    const auto& buffer = buffers.emplace_back(std::make_shared<Buffer>(request.extent.bytes));
    queries.push_back(levels_.fleet_query(request.record, buffer->span()));
  }
  // One round trip for all of them.
  levels_.fleet().get(queries);
  if (trace_.on()) trace_.add_fleet_look_up(thread, queries, begin_ns);
  const std::uint64_t spent_ns =
      (monotonic_ns() - begin_ns) / std::max<std::size_t>(1, queries.size());
  std::vector<FetchRequest*> missed;
  std::vector<cache::FleetQuery*> missed_queries;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (queries[i].hit) {
      answer.delivered.push_back(asked[i]->record);
      deliver(*asked[i], std::move(buffers[i]), cache::Level::kFleet, spent_ns);
      // A request without item marks itself as answered; what still has one goes to the store
      // below.
      asked[i]->item.reset();
    } else {
      missed.push_back(asked[i]);
      missed_queries.push_back(&queries[i]);
    }
  }
  // The claim tells other hosts that this one reads the record from the store.
  levels_.fleet().claim(missed_queries);
  sort_misses(missed, missed_queries, answer);
  for (FetchRequest& request : requests) {
    if (request.item != nullptr) answer.to_store.push_back(std::move(request));
  }
  hooks_.answer(std::move(answer));
}

// Moves requests that another host has claimed to answer.waiting, until their patience ends. The
// rest stays in place and goes to the store.
void CacheThreads::sort_misses(std::vector<FetchRequest*>& missed,
                               std::vector<cache::FleetQuery*>& queries, CacheAnswer& answer) {
  const std::uint64_t now_ns = monotonic_ns();
  for (std::size_t i = 0; i < missed.size(); ++i) {
    FetchRequest& request = *missed[i];
    // Patience is counted from the first miss, over all repeated questions.
    if (request.give_up_ns == 0) request.give_up_ns = now_ns + kPatienceNs;
    // Claimed by this host, or nobody else delivered it in time: read it from the store.
    request.past_cache = queries[i]->claimed || now_ns >= request.give_up_ns;
    if (request.past_cache) continue;
    ++request.waits;
    answer.waiting.push_back(std::move(request));
    request.item.reset();
  }
}

void CacheThreads::run_fills() {
  name_thread("cache-fill");
  while (true) {
    {
      MutexLock lock(mutex_);
      const auto until = std::chrono::steady_clock::now() + kLookEvery;
      while (!stopping_ && fills_.empty() && !levels_.has_pending() &&
             fill_work_.wait_until(lock, until)) {
      }
      if (stopping_) break;
    }
    // At most one fill, then the disk's turn: neither of the two can delay the other for long.
    fill_one();
    levels_.work_on_disk();
  }
  // What the disk cache still has pending, for a limited time.
  const std::uint64_t deadline_ns = levels_.end_of_writes_ns(monotonic_ns());
  while (levels_.has_pending() && monotonic_ns() < deadline_ns) levels_.work_on_disk();
}

bool CacheThreads::fill_one() {
  Fill fill;
  {
    const MutexLock lock(mutex_);
    if (fills_.empty()) return false;
    fill = std::move(fills_.front());
    fills_.pop_front();
  }
  // Without the lock: this blocks on the network. `fill` gives its share back when it ends.
  levels_.put_into_fleet(fill.record, fill.value->span());
  return true;
}

}  // namespace echoline::engine
