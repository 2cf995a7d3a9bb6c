// The part of the fetcher that deals with the cache: what is served from it, what follows a record
// that is on its way, what the fleet is asked for.

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "engine/fetch/fetcher.h"

namespace echoline::engine {
namespace {

// Of a job for the cache's threads.
constexpr std::size_t kDiskRunOrders = 16;
constexpr std::uint64_t kDiskRunBytes = 1 << 20;
// How long an order sleeps before the fleet is asked again, doubling.
constexpr std::uint64_t kSleepFirstNs = 2'000'000;
constexpr std::uint64_t kSleepDoublings = 5;

}  // namespace

// True if the order needs nothing more from here.
bool Fetcher::serve(FetchRequest& order) {
  if (caches_.samples != nullptr && caches_.samples->serves(order.record, order.extent.bytes)) {
    deliver(order, std::make_shared<Buffer>());  // the worker finds the sample
    return true;
  }
  cache::Levels* levels = caches_.levels;
  if (levels == nullptr || order.past_cache) return false;
  if (auto kept = levels->find_in_memory(order.record)) {
    levels->count_hit(cache::Level::kMemory, kept->size(), 0);
    deliver(order, std::move(kept));
    return true;
  }
  if (!levels->has_disk() || !levels->holds_on_disk(order.record, order.extent.bytes)) return false;
  disk_run_.push_back(std::move(order));
  return true;
}

// Hands the collected orders to the threads, some at a time.
void Fetcher::read_disk() {
  std::vector<FetchRequest> job;
  std::uint64_t bytes = 0;
  for (FetchRequest& order : disk_run_) {
    bytes += order.extent.bytes;
    job.push_back(std::move(order));
    if (job.size() < kDiskRunOrders && bytes < kDiskRunBytes) continue;
    cache_threads_->read_disk(std::exchange(job, {}));
    bytes = 0;
  }
  if (!job.empty()) cache_threads_->read_disk(std::move(job));
  disk_run_.clear();
}

// True if the record is on its way for another order already, and will be kept.
bool Fetcher::follow(FetchRequest& order) {
  cache::Levels* levels = caches_.levels;
  if (levels == nullptr) return false;
  if (!levels->keeps(order.record) && !levels->belongs_to_fleet(order.record)) return false;
  const auto [first, added] = under_way_.try_emplace(order.record);
  if (!added) first->second.push_back(std::move(order));
  return !added;
}

// The record is no longer on its way: those who followed it go their own, if it has come to memory
// or disk.
void Fetcher::release(std::uint64_t record) {
  if (under_way_.empty()) return;
  auto ended = under_way_.extract(record);
  if (ended.empty()) return;
  for (FetchRequest& order : ended.mapped()) {
    if (!serve(order)) book_.add(std::move(order));
  }
  read_disk();
}

// Orders that would go to the store now: a last look whether they have to.
void Fetcher::route(std::vector<FetchRequest> run) {
  drop_unwanted(run);
  std::vector<FetchRequest> rest;
  bool of_fleet = false;
  for (FetchRequest& order : run) {
    if (serve(order) || follow(order)) continue;
    if (caches_.levels != nullptr && caches_.levels->belongs_to_fleet(order.record)) {
      of_fleet = of_fleet || !order.past_cache;
      order.fill = cache_threads_->take_fill_share(order.extent.bytes);
    }
    rest.push_back(std::move(order));
  }
  read_disk();
  if (rest.empty()) return;
  if (!of_fleet) return stage(std::move(rest));
  ++asked_;
  cache_threads_->ask_fleet(std::move(rest));
}

void Fetcher::stage(std::vector<FetchRequest> run) {
  for (FetchRequest& order : run) {
    if (caches_.samples != nullptr && !order.counted) caches_.samples->count_miss();
    if (caches_.levels != nullptr && !order.counted) caches_.levels->count_miss();
    order.counted = true;
  }
  if (caches_.levels == nullptr) return ready_.push_back(std::move(run));
  for (std::vector<FetchRequest>& part : book_.cut(std::move(run)))
    ready_.push_back(std::move(part));
}

void Fetcher::answered(CacheAnswer answer) {
  {
    std::lock_guard lock(mutex_);
    answers_.push_back(std::move(answer));
  }
  source_->wake();
}

void Fetcher::take_answer(CacheAnswer answer) {
  if (answer.of_fleet) --asked_;
  for (FetchRequest& order : answer.again) book_.add(std::move(order));
  const std::uint64_t now_ns = monotonic_ns();
  for (FetchRequest& order : answer.waiting) {
    const std::uint64_t record = order.record;
    const std::uint64_t sleep_ns = kSleepFirstNs << std::min(order.waits, kSleepDoublings);
    order.fill = {};
    asleep_.emplace(now_ns + sleep_ns, std::move(order));
    release(record);
  }
  for (const std::uint64_t record : answer.delivered) release(record);
  if (!answer.to_store.empty()) stage(std::move(answer.to_store));
}

void Fetcher::ask_again(std::uint64_t now_ns) {
  std::vector<FetchRequest> due;
  while (!asleep_.empty() && asleep_.begin()->first <= now_ns) {
    due.push_back(std::move(asleep_.begin()->second));
    asleep_.erase(asleep_.begin());
  }
  if (due.empty()) return;
  // Requests are runs of one shard, ascending.
  for (FetchRequest& order : due) book_.put_back(std::move(order));
}

void Fetcher::keep(FetchRequest& order, const std::shared_ptr<const Buffer>& bytes) {
  const double store_ns_per_byte = static_cast<double>(store_ns_) /
                                   static_cast<double>(std::max<std::uint64_t>(1, store_bytes_));
  if (caches_.samples != nullptr) caches_.samples->set_store_cost(store_ns_per_byte);
  cache::Levels* levels = caches_.levels;
  if (levels == nullptr) return;
  levels->set_store_cost(store_ns_per_byte);
  levels->keep(order.record, bytes, std::nullopt);
  if (levels->belongs_to_fleet(order.record)) {
    cache_threads_->fill_fleet(order.record, bytes, std::move(order.fill));
  }
  if (levels->has_pending()) cache_threads_->wake_fills();
}

void Fetcher::drop_unwanted(std::vector<FetchRequest>& orders) {
  const auto unwanted =
      std::erase_if(orders, [](const FetchRequest& order) { return order.item.use_count() == 1; });
  waiting_.fetch_sub(unwanted, std::memory_order_relaxed);
}

}  // namespace echoline::engine
