#include "source/core/counters.h"

#include <algorithm>

namespace echoline::source {

Counters& Counters::operator+=(const Counters& other) {
  for (const auto number :
       {&Counters::requests_ok, &Counters::requests_retried, &Counters::requests_failed,
        &Counters::requests_redirected, &Counters::bytes, &Counters::arriving, &Counters::in_flight,
        &Counters::limit, &Counters::checked, &Counters::damaged, &Counters::hedges_won,
        &Counters::hedges_lost, &Counters::replaced_won, &Counters::replaced_lost,
        &Counters::answer_ns}) {
    this->*number += other.*number;
  }
  for (std::size_t reason = 0; reason < wait_ns.size(); ++reason) {
    wait_ns[reason] += other.wait_ns[reason];
  }
  latencies += other.latencies;
  if (least_answer_ns == 0) least_answer_ns = other.least_answer_ns;
  return *this;
}

void SharedCounters::add_latency(std::uint64_t ns, std::uint64_t answer_ns) {
  add(latency_counts_[bucket_of(kLatencyBounds, ns)], 1);
  add(latency_sum_ns_, ns);
  add(answer_sum_ns_, answer_ns);
  if (answer_ns == 0) return;
  const std::uint64_t least = least_answer_ns_.load(std::memory_order_relaxed);
  const bool is_less = least == 0 || answer_ns < least;
  least_answer_ns_.store(is_less ? answer_ns : least + (answer_ns - least) / 64,
                         std::memory_order_relaxed);
}

void SharedCounters::end(bool well) {
  add(well ? ok : failed, 1);
  take(in_flight, 1);
}

Counters SharedCounters::snapshot() const {
  // Each number is exact; together they are of slightly different moments.
  const auto load = [](const Count& count) { return count.load(std::memory_order_relaxed); };
  Counters counters;
  counters.requests_ok = load(ok);
  counters.requests_retried = load(retried);
  counters.requests_failed = load(failed);
  counters.requests_redirected = load(redirected);
  counters.bytes = load(bytes);
  counters.arriving = load(arriving);
  counters.in_flight = load(in_flight);
  counters.limit = load(limit);
  counters.checked = load(checked);
  counters.damaged = load(damaged);
  counters.hedges_won = load(hedges_won);
  counters.replaced_won = load(replaced_won);
  counters.replaced_lost = load(replaced_lost);
  counters.hedges_lost = load(hedges_lost);
  std::transform(wait_ns_.begin(), wait_ns_.end(), counters.wait_ns.begin(), load);
  std::transform(latency_counts_.begin(), latency_counts_.end(), counters.latencies.counts.begin(),
                 load);
  counters.latencies.sum_ns = load(latency_sum_ns_);
  counters.answer_ns = load(answer_sum_ns_);
  counters.least_answer_ns = load(least_answer_ns_);
  return counters;
}

}  // namespace echoline::source
