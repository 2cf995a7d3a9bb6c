#include "engine/fetch/fetch_meter.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace echoline::engine {

FetchCounters& FetchCounters::operator+=(const FetchCounters& other) {
  for (const auto number :
       {&FetchCounters::records, &FetchCounters::bytes, &FetchCounters::busy_ns,
        &FetchCounters::idle_ns, &FetchCounters::store_ns, &FetchCounters::store_records,
        &FetchCounters::waiting, &FetchCounters::agreed, &FetchCounters::disagreed,
        &FetchCounters::repeated, &FetchCounters::replaced, &FetchCounters::checksum_bytes}) {
    this->*number += other.*number;
  }
  return *this;
}

void FetchMeter::deliver(FetchRequest& request, std::shared_ptr<const Buffer> bytes,
                         echo::Form form) {
  // Counted before the item notifies its waiters: the counters include a record that is in use.
  records_.fetch_add(1, kRelaxed);
  bytes_.fetch_add(bytes->size(), kRelaxed);
  waiting_.fetch_sub(1, kRelaxed);
  request.item->arrive(std::move(bytes), form);
}

void FetchMeter::drop_unwanted(std::vector<FetchRequest>& requests) {
  waiting_.fetch_sub(std::erase_if(requests, is_unwanted), kRelaxed);
}

void FetchMeter::count_checked(record::AnswerVerdict verdict) {
  using enum record::AnswerVerdict;
  if (verdict == kAgreed) agreed_.fetch_add(1, kRelaxed);
  if (verdict == kWrong || verdict == kFailed) disagreed_.fetch_add(1, kRelaxed);
  if (verdict == kRepeat) repeated_.fetch_add(1, kRelaxed);
  if (verdict == kReplaced) replaced_.fetch_add(1, kRelaxed);
}

void FetchMeter::Times::charge(FetchWork work, std::uint64_t passed_ns) {
  // The cost of a byte is measured from time at the store only, not from time at the cache.
  if (work == FetchWork::kAtStore) store_ns += passed_ns;
  // kHeldUp is neither: requests exist, and the store's pause or the fleet's fills delay them.
  if (work == FetchWork::kNone) idle_ns += passed_ns;
  if (work != FetchWork::kHeldUp && work != FetchWork::kNone) busy_ns += passed_ns;
}

void FetchMeter::sleep(FetchWork work, std::uint64_t now_ns) {
  const MutexLock lock(mutex_);
  present_ = work;
  asleep_since_ns_ = std::max(now_ns, accounted_until_ns_);
}

void FetchMeter::wake(std::uint64_t now_ns) {
  const MutexLock lock(mutex_);
  // The caller's time was read before the lock was free: what is seen already stays.
  const std::uint64_t until_ns = std::max(now_ns, seen_until_ns_);
  times_.charge(present_, until_ns - accounted_until_ns_);
  accounted_until_ns_ = until_ns;
  asleep_since_ns_ = 0;
}

double FetchMeter::store_ns_per_byte() const {
  const MutexLock lock(mutex_);
  return static_cast<double>(times_.store_ns) /
         static_cast<double>(std::max<std::uint64_t>(1, store_bytes_));
}

FetchCounters FetchMeter::counters() const {
  MutexLock lock(mutex_);
  Times times = times_;
  const FetchWork present = present_;
  if (asleep_since_ns_ != 0) {
    // Later than any call of sleep() or wake() before.
    seen_until_ns_ = monotonic_ns();
    times.charge(present, seen_until_ns_ - asleep_since_ns_);
  }
  lock.unlock();
  return {.records = records_.load(kRelaxed),
          .bytes = bytes_.load(kRelaxed),
          .busy_ns = times.busy_ns,
          .idle_ns = times.idle_ns,
          .store_ns = times.store_ns,
          .store_records = store_records_.load(kRelaxed),
          .waiting = waiting_.load(kRelaxed),
          .agreed = agreed_.load(kRelaxed),
          .disagreed = disagreed_.load(kRelaxed),
          .repeated = repeated_.load(kRelaxed),
          .replaced = replaced_.load(kRelaxed),
          .present = present};
}

}  // namespace echoline::engine
