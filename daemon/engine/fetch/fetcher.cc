#include "engine/fetch/fetcher.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/clock.h"

namespace echoline::engine {
namespace {

// The longest sleep in the source's poll; wake() ends it earlier.
constexpr std::uint64_t kPollNs = 100'000'000;
constexpr std::uint64_t kFullPollNs = 2'000'000;  // while the fleet is filled too slowly

}  // namespace

Fetcher::Fetcher(std::unique_ptr<source::Source> source, const record::Index& index, Caches caches,
                 Options options, FailureFunction on_failure)
    : index_(index),
      on_failure_(std::move(on_failure)),
      trace_(std::move(options.recorder), options.source),
      meter_(monotonic_ns()),
      coalescer_(options.reach, caches.levels != nullptr),
      store_(std::move(source), index, options.wait_on_error, meter_),
      cache_(caches, coalescer_, meter_, trace_, [this] { store_.wake(); }),
      thread_(*this, "fetch") {
  if (options.own_thread) thread_.start();
}

Status Fetcher::use_servers(RemoteReaderOptions options, bool check) {
  ECHOLINE_ASSIGN(remote_,
                  RemoteReader::open(std::move(options), meter_, [this] { store_.wake(); }));
  if (check) ECHOLINE_TRY(remote_->check());
  thread_.start();
  return {};
}

void Fetcher::stop() {
  // First the thread that starts lookups, then the threads that run them.
  thread_.stop();
  cache_.stop();
}

void Fetcher::request(std::vector<FetchRequest> requests) {
  if (requests.empty()) return;
  // On the caller's thread: a record counts as awaited from its request on.
  meter_.count_requested(requests.size());
  {
    const MutexLock lock(mutex_);
    if (incoming_.empty()) {
      incoming_ = std::move(requests);
    } else {
      std::move(requests.begin(), requests.end(), std::back_inserter(incoming_));
    }
  }
  wake();
}

bool Fetcher::do_work() {
  const std::uint64_t now_ns = monotonic_ns();
  take_in(now_ns);
  cache_.retry_waiting(now_ns);
  fill_slots(now_ns);
  // Asked before the poll: the thread does not wait for what is requested meanwhile.
  const FetchWork work = present_work();
  meter_.sleep(work, now_ns);
  const std::uint64_t begin_ns = trace_.now_ns();
  std::vector<source::ReadResult> results = store_.poll(next_deadline(now_ns));
  const std::uint64_t after_ns = monotonic_ns();
  if (begin_ns != 0) trace_.add_wait(work, begin_ns, after_ns);
  meter_.wake(after_ns);
  for (source::ReadResult& result : results) finish(std::move(result), after_ns);
  return !results.empty();
}

void Fetcher::take_in(std::uint64_t now_ns) {
  std::vector<FetchRequest> requests;
  {
    const MutexLock lock(mutex_);
    requests.swap(incoming_);
  }
  add_to_store(cache_.take_answers(now_ns));
  take_remote();
  for (FetchRequest& request : requests) {
    // Also for substitutes of bad records, whose request comes with the record number only.
    request.extent = index_.extent(request.record);
    if (!cache_.serve(request)) coalescer_.add(std::move(request));
  }
  cache_.read_disk();
}

void Fetcher::fill_slots(std::uint64_t now_ns) {
  if (failed_) return;  // no more requests; what is in flight still arrives
  while (!coalescer_.empty()) {
    const std::optional<bool> remote = next_goes_remote(now_ns);
    if (!remote) break;
    if (*remote) {
      for (FetchRun& run : cache_.route(coalescer_.take({.at_once = RemoteReader::kAtOnce}))) {
        remote_->add(std::move(run));
      }
    } else {
      std::vector<FetchRun> runs = cache_.route(coalescer_.take(store_.reads_now()));
      if (remote_ != nullptr) remote_->count_local(runs);
      add_to_store(std::move(runs));
    }
  }
  std::vector<std::uint64_t> dropped;
  store_.submit_ready(now_ns, dropped);
  // Requests that followed a dropped one look for another way.
  for (const std::uint64_t record : dropped) cache_.release(record);
}

std::optional<bool> Fetcher::next_goes_remote(std::uint64_t now_ns) const {
  if (remote_ != nullptr && remote_->is_reachable()) {
    return remote_->has_room() ? std::optional(true) : std::nullopt;
  }
  // While the store is out of reach, the fleet may still have what is wanted.
  if (store_.is_paused(now_ns) && !cache_.has_fleet()) return std::nullopt;
  if (store_.too_early_ns(coalescer_.oldest()) > 0) return std::nullopt;
  if (!cache_.has_room_for_fills() || !store_.has_slot_for_more(cache_.asked_runs())) {
    return std::nullopt;
  }
  return false;
}

void Fetcher::take_remote() {
  if (remote_ == nullptr) return;
  FetchRun again;
  add_to_store(remote_->take_results(again));
  for (FetchRequest& request : again) coalescer_.put_back(std::move(request));
}

void Fetcher::add_to_store(std::vector<FetchRun> runs) {
  for (FetchRun& run : runs) store_.add(std::move(run));
}

void Fetcher::finish(source::ReadResult result, std::uint64_t now_ns) {
  StoreReader::Finished finished = store_.take(result.tag);
  if (trace_.on()) trace_.add_read(finished.read, result.status.ok(), now_ns);
  std::vector<std::uint64_t> records;
  for (const FetchRequest& request : finished.requests) records.push_back(request.record);
  if (result.status.ok()) {
    // A store that answers is in reach again: the next failure begins with the shortest pause.
    store_.end_pause();
    for (std::size_t i = 0; i < records.size(); ++i) {
      finish_record(finished.requests[i], std::move(finished.buffers[i]), result, i);
    }
  } else if (store_.begin_pause(result.status, now_ns)) {
    // Before all others: their batch is the one that trainers wait for.
    for (FetchRequest& request : finished.requests) coalescer_.put_back(std::move(request));
  } else {
    return fail(result.status);  // the stream ends: nobody waits for the records any more
  }
  // After keep(): followers find the record in a cache. After put_back(): they wait in the
  // coalescer again.
  for (const std::uint64_t record : records) cache_.release(record);
}

// Bytes that are not the record's, or not certain yet, are requested again, a few times.
void Fetcher::finish_record(FetchRequest& request, std::shared_ptr<Buffer> bytes,
                            const source::ReadResult& read, std::size_t segment) {
  std::optional<std::uint32_t> checksum;
  ECHOLINE_CHECK(read.checksums.empty() || segment < read.checksums.size());
  if (!read.checksums.empty()) checksum = read.checksums[segment];
  const auto verdict = store_.check(request, bytes->span(), read.checked, checksum);
  if (!verdict.ok()) {
    fail(verdict.status());
  } else if (*verdict == StoreReader::Check::kAgain) {
    coalescer_.put_back(std::move(request));
  } else {
    cache_.keep(request, bytes);
    meter_.deliver(request, std::move(bytes));
  }
}

FetchCounters Fetcher::counters() const {
  FetchCounters counters = meter_.counters();
  counters.checksum_bytes = store_.checksum_bytes();
  return counters;
}

void Fetcher::fail(const Status& status) {
  // Only stops new requests. The stream ends its passes through on_failure_.
  failed_ = true;
  on_failure_(status);
}

FetchWork Fetcher::present_work() const {
  if (store_.has_requests()) return FetchWork::kAtStore;
  if (remote_ != nullptr && remote_->has_requests()) return FetchWork::kAtServers;
  // Requested, and neither in flight nor at a cache: the store pauses, or the fills have no room.
  if (!coalescer_.empty()) return FetchWork::kHeldUp;
  if (meter_.waiting() == 0) return FetchWork::kNone;
  return cache_.is_at_fleet() ? FetchWork::kAtFleet : FetchWork::kAtDisk;
}

std::uint64_t Fetcher::next_deadline(std::uint64_t now_ns) const {
  std::uint64_t deadline = std::min(now_ns + kPollNs, cache_.next_retry_ns());
  if (!coalescer_.empty()) {
    const std::uint64_t early_ns = store_.too_early_ns(coalescer_.oldest());
    if (early_ns > 0) deadline = std::min(deadline, now_ns + early_ns);
  }
  if (store_.is_paused(now_ns)) deadline = std::min(deadline, store_.pause_until_ns());
  return cache_.has_room_for_fills() ? deadline : std::min(deadline, now_ns + kFullPollNs);
}

}  // namespace echoline::engine
