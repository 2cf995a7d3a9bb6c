#include "engine/fetch/fetcher.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "engine/runtime/worker_pool.h"
#include "record/core/record_check.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kPauseFirstNs = 100'000'000;
constexpr std::uint64_t kPauseMaxNs = 5'000'000'000;

bool may_pass(Code code) {
  return code == Code::kUnavailable || code == Code::kDeadlineExceeded ||
         code == Code::kResourceExhausted;
}

}  // namespace

Fetcher::Fetcher(std::unique_ptr<source::Source> source, const record::Index& index, Caches caches,
                 Options options, FailureFunction on_failure)
    : source_(std::move(source)),
      index_(index),
      caches_(caches),
      options_(options),
      on_failure_(std::move(on_failure)),
      book_(options.reach, caches.levels != nullptr),
      accounted_until_ns_(monotonic_ns()) {
  if (caches_.levels != nullptr && (caches_.levels->has_disk() || caches_.levels->has_fleet())) {
    cache_threads_ = std::make_unique<CacheThreads>(
        *caches_.levels,
        CacheThreads::Hooks{.deliver =
                                [this](FetchRequest& order, std::shared_ptr<const Buffer> bytes) {
                                  deliver(order, std::move(bytes));
                                },
                            .answer = [this](CacheAnswer answer) { answered(std::move(answer)); }});
  }
  thread_ = std::thread([this] { run(); });
}

Fetcher::~Fetcher() {
  stop();
  source_.reset();  // before the buffers its transfers write to
}

void Fetcher::stop() {
  stopping_.store(true);
  source_->wake();
  if (thread_.joinable()) thread_.join();
  if (cache_threads_ != nullptr) cache_threads_->stop();
}

void Fetcher::order(std::vector<FetchRequest> orders) {
  if (orders.empty()) return;
  waiting_.fetch_add(orders.size(), std::memory_order_relaxed);
  {
    std::lock_guard lock(mutex_);
    if (incoming_.empty()) {
      incoming_ = std::move(orders);
    } else {
      std::move(orders.begin(), orders.end(), std::back_inserter(incoming_));
    }
  }
  source_->wake();
}

void Fetcher::run() {
  name_thread("fetch");
  std::vector<source::ReadResult> done;
  while (!stopping_.load()) {
    take_in();
    const std::uint64_t now_ns = monotonic_ns();
    ask_again(now_ns);
    pump(now_ns);
    done.clear();
    // What was ordered meanwhile was not what the thread waited for.
    const Work work = work_at_hand();
    source_->poll(next_deadline(now_ns), done);
    account_time(work, monotonic_ns());
    for (source::ReadResult& result : done) finish(std::move(result));
  }
}

void Fetcher::take_in() {
  std::vector<FetchRequest> orders;
  std::vector<CacheAnswer> answers;
  {
    std::lock_guard lock(mutex_);
    orders.swap(incoming_);
    answers.swap(answers_);
  }
  for (CacheAnswer& answer : answers) take_answer(std::move(answer));
  for (FetchRequest& order : orders) {
    order.extent = index_.extent(order.record);
    if (!serve(order)) book_.add(std::move(order));
  }
  read_disk();
}

void Fetcher::pump(std::uint64_t now_ns) {
  if (failed_) return;
  const bool paused = now_ns < pause_until_ns_;
  // While the store is out of reach, the fleet may still have what is wanted.
  const bool may_ask = !paused || (caches_.levels != nullptr && caches_.levels->has_fleet());
  const auto has_room = [this] {
    return cache_threads_ == nullptr || cache_threads_->has_room_for_fills();
  };
  // A run that the fleet is asked for has a place at the store from the beginning.
  while (may_ask && has_room() && !book_.empty() &&
         source_->slots_free() > ready_.size() + asked_) {
    route(book_.take(source_->slots_free() + requests_.size()));
  }
  while (!paused && !ready_.empty() && source_->slots_free() > 0) {
    submit(std::move(ready_.front()));
    ready_.pop_front();
  }
}

void Fetcher::submit(std::vector<FetchRequest> orders) {
  for (const FetchRequest& order : orders) {
    if (order.item.use_count() == 1) release(order.record);
  }
  drop_unwanted(orders);
  if (orders.empty()) return;
  source::ReadRequest request;
  request.tag = next_tag_++;
  request.object = index_.shards()[orders.front().extent.shard].object;
  std::vector<std::shared_ptr<Buffer>> buffers;
  buffers.reserve(orders.size());
  for (const FetchRequest& order : orders) {
    const auto& buffer = buffers.emplace_back(std::make_shared<Buffer>(order.extent.bytes));
    request.segments.push_back({order.extent.offset, buffer->span()});
  }
  const std::uint64_t tag = request.tag;
  requests_.emplace(tag, Request{std::move(orders), std::move(buffers)});
  source_->submit(std::move(request));
}

void Fetcher::finish(source::ReadResult result) {
  auto found = requests_.extract(result.tag);
  Request request = std::move(found.mapped());
  if (!result.status.ok()) {
    retry_or_fail(std::move(request), result.status);
    return;
  }
  pause_ns_ = 0;
  for (std::size_t i = 0; i < request.orders.size(); ++i) {
    store_bytes_ += request.buffers[i]->size();
    if (!accept(request.orders[i], request.buffers[i]->span())) continue;
    keep(request.orders[i], request.buffers[i]);
    deliver(request.orders[i], std::move(request.buffers[i]));
  }
  for (const FetchRequest& order : request.orders) release(order.record);
}

// Bytes that are not the record's are asked for again, a few times.
bool Fetcher::accept(FetchRequest& order, std::span<const std::byte> bytes) {
  if (index_.checksum(order.record) == 0) return true;
  const Status checked = record::check_record(index_, order.record, bytes);
  (checked.ok() ? agreed_ : disagreed_).fetch_add(1, std::memory_order_relaxed);
  if (checked.ok()) return true;
  source_->forget(index_.shard(order.extent.shard).object);
  if (++order.disagreements < record::kAnswersMax) {
    book_.put_back(std::move(order));
  } else {
    fail(checked);
  }
  return false;
}

void Fetcher::deliver(FetchRequest& order, std::shared_ptr<const Buffer> bytes) {
  records_.fetch_add(1, std::memory_order_relaxed);
  bytes_.fetch_add(bytes->size(), std::memory_order_relaxed);
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  order.item->arrive(std::move(bytes));
}

void Fetcher::fail(const Status& status) {
  failed_ = true;
  on_failure_(status);
}

void Fetcher::retry_or_fail(Request request, const Status& status) {
  if (!options_.wait_on_error || !may_pass(status.code())) return fail(status);
  const std::uint64_t now_ns = monotonic_ns();
  // Requests that were under way together fail together: one pause, one line in the log.
  if (now_ns >= pause_until_ns_) {
    pause_ns_ = std::clamp(pause_ns_ * 2, kPauseFirstNs, kPauseMaxNs);
    pause_until_ns_ = now_ns + pause_ns_;
    log_warning("fetch", "{}; trying again in {} ms, trainers wait (read.on_error: wait)",
                status.message(), pause_ns_ / 1'000'000);
  }
  for (FetchRequest& order : request.orders) {
    const std::uint64_t record = order.record;
    book_.put_back(std::move(order));
    release(record);
  }
}

}  // namespace echoline::engine
