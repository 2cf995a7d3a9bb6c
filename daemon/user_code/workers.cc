#include "user_code/workers.h"

#include <algorithm>

#include "base/clock.h"

namespace echoline::user_code {
namespace {

// A sample whose worker was lost gets one more.
constexpr int kCallsMax = 2;

bool is_wanted(const std::atomic<bool>* stopping) {
  return stopping == nullptr || !stopping->load();
}

}  // namespace

Workers::Workers(Function function)
    : function_(std::move(function)),
      results_(function_),
      verdicts_(function_, counters_),
      free_(function_, counters_, verdicts_.log()) {}

Result<std::unique_ptr<Workers>> Workers::start(Function function) {
  std::unique_ptr<Workers> workers(new Workers(std::move(function)));
  ECHOLINE_TRY(workers->free_.start());
  return workers;
}

Status Workers::run(const SampleCall& sample, const std::atomic<bool>* stopping) {
  if (kept_->has(sample.key)) return verdicts_.of_kept();
  Status lost;
  Ended ended = Ended::kReply;
  const bool has_threads = free_.has_threads();
  // Of several calls in a process that is lost, any one can be the reason: that decides nothing.
  for (int i = has_threads ? -1 : 0; i < kCallsMax; ++i) {
    ended = Ended::kReply;
    Status status = has_threads && i >= 0 ? call_alone(sample, stopping, ended)
                                          : call_one(sample, stopping, ended);
    if (ended == Ended::kReply) return status;
    if (ended == Ended::kStopped || !is_wanted(stopping))
      return Status(Code::kCancelled, "the pass has ended");
    lost = std::move(status);
  }
  if (ended == Ended::kTimedOut) counters_.given_up.fetch_add(1, std::memory_order_relaxed);
  kept_->add(sample.key);
  return lost;
}

Status Workers::call_one(const SampleCall& sample, const std::atomic<bool>* stopping,
                         Ended& ended) {
  ECHOLINE_ASSIGN(std::unique_ptr<Worker> worker, free_.borrow(stopping));
  Status status = call(*worker, sample, stopping, ended);
  if (ended == Ended::kReply) {
    free_.give_back(std::move(worker));
  } else {
    free_.lost(std::move(worker));
  }
  return status;
}

Status Workers::call_alone(const SampleCall& sample, const std::atomic<bool>* stopping,
                           Ended& ended) {
  alone_callers_.fetch_add(1);
  const MutexLock lock(alone_mutex_);
  Status status = call_in_alone(sample, stopping, ended);
  // Kept while others wait: each would have to load the function again.
  const bool is_last = alone_callers_.fetch_sub(1) == 1;
  if (alone_ != nullptr && (is_last || ended != Ended::kReply)) free_.end_alone(std::move(alone_));
  return status;
}

Status Workers::call_in_alone(const SampleCall& sample, const std::atomic<bool>* stopping,
                              Ended& ended) {
  if (!is_wanted(stopping)) {
    ended = Ended::kStopped;
    return {};
  }
  ECHOLINE_ASSIGN(alone_, free_.alone(std::move(alone_), stopping));
  return call(*alone_, sample, stopping, ended);
}

Progress Workers::run_several(std::span<const SampleCall> samples,
                              const std::atomic<bool>* stopping) {
  const auto is_kept = [this](const SampleCall& sample) { return kept_->has(sample.key); };
  samples = {samples.begin(), std::ranges::find_if(samples, is_kept)};
  if (samples.empty()) return {.done = 0, .next = 1};
  const Progress none{.done = 0, .next = samples.size()};
  Result<std::unique_ptr<Worker>> worker = free_.borrow(stopping);
  if (!worker.ok()) return none;
  Ended ended = Ended::kReply;
  const Progress progress =
      call_several(**worker, samples.first(samples_together(function_, samples)), stopping, ended);
  if (ended == Ended::kReply) {
    free_.give_back(std::move(*worker));
    return progress;
  }
  free_.lost(std::move(*worker));
  return none;
}

Result<Outcome> Workers::exchange(Worker& worker, std::span<const SampleCall> samples,
                                  const std::atomic<bool>* stopping, std::string& written) {
  const std::uint64_t begin_ns = monotonic_ns();
  // A function of one sample is called for samples that take a moment (Function::samples). If one
  // of them hangs, nobody has to wait for the time of all.
  const std::uint64_t times = function_.is_batched ? samples.size() : 1;
  Result<Outcome> outcome = worker.call(
      samples, {.deadline_ns = begin_ns + times * function_.timeout_ns, .stopping = stopping});
  counters_.ns.fetch_add(monotonic_ns() - begin_ns, std::memory_order_relaxed);
  written = worker.take_written();
  if (!written.empty()) verdicts_.log().wrote(written);
  return outcome;
}

Status Workers::call(Worker& worker, const SampleCall& sample, const std::atomic<bool>* stopping,
                     Ended& ended) {
  std::string written;
  Result<Outcome> outcome = exchange(worker, {&sample, 1}, stopping, written);
  if (!outcome.ok()) return outcome.status();
  if (outcome->ended == Ended::kReply) {
    if (outcome->reply.kind != ReplyKind::kResult) return verdicts_.of_failure(outcome->reply);
    const Result<std::size_t> taken = results_.take(outcome->reply, worker.results(), {&sample, 1});
    if (taken.ok()) {
      counters_.returned.fetch_add(1, std::memory_order_relaxed);
      return {};
    }
    *outcome = {.ended = Ended::kBroken, .reply = {}, .reason = "sent " + taken.status().message()};
  }
  ended = outcome->ended;
  return verdicts_.of_loss(*outcome, written);
}

Progress Workers::call_several(Worker& worker, std::span<const SampleCall> samples,
                               const std::atomic<bool>* stopping, Ended& ended) {
  std::string written;
  Progress progress{.done = 0, .next = samples.size()};
  Result<Outcome> outcome = exchange(worker, samples, stopping, written);
  if (!outcome.ok()) return progress;
  const Reply& reply = outcome->reply;
  if (outcome->ended == Ended::kReply && reply.kind == ReplyKind::kResult) {
    const Result<std::size_t> taken = results_.take(reply, worker.results(), samples);
    if (taken.ok()) {
      progress.done = *taken;
    } else {
      *outcome = {.ended = Ended::kBroken, .reason = "sent " + taken.status().message()};
    }
  }
  counters_.returned.fetch_add(progress.done, std::memory_order_relaxed);
  if (progress.done == samples.size()) return progress;
  ended = outcome->ended;
  if (ended != Ended::kStopped) counters_.repeated.fetch_add(1, std::memory_order_relaxed);
  if (ended != Ended::kReply) {
    // No verdict on a sample.
    static_cast<void>(verdicts_.of_loss(*outcome, written));
  } else if (!function_.is_batched) {
    progress.next = progress.done + 1;
  } else {
    verdicts_.of_chunk(reply, samples.size());
  }
  return progress;
}

}  // namespace echoline::user_code
