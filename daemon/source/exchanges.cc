// The rules of time: an attempt that hears nothing for `stall_ns` is tried anew; an exchange is
// given up when `timeout_ns` has passed without progress, however many attempts that took. Waiting
// for room under the endpoint's limit is no lack of progress.
#include "source/exchanges.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/clock.h"
#include "source/attempt.h"
#include "source/backoff.h"
#include "source/endpoint.h"

namespace echoline::source {
namespace {

// Less than this in a time-out is a drip, not progress.
constexpr std::uint64_t kProgressBytes = 64 << 10;
// A good answer after this long without any means that the store is back.
constexpr std::uint64_t kOutageNs = 1'000'000'000;
constexpr std::uint64_t kReadyCheckNs = 5'000'000;

HttpOptions http_options(const ExchangeLimits& limits) {
  return {limits.connections_max, std::max<std::uint64_t>(limits.stall_ns, 1), limits.ca_file};
}

Status too_slow(std::uint64_t timeout_ns) {
  return Status(Code::kDeadlineExceeded,
                fmt::format("less than {} bytes came in {:.1f} s", kProgressBytes,
                            static_cast<double>(timeout_ns) / 1e9));
}

Status given_up(const Status& reason, std::uint32_t attempts) {
  return Status(reason.code(),
                fmt::format("{}; given up after attempt {}", reason.message(), attempts));
}

}  // namespace

// One exchange and its current attempt.
class Exchanges::Running {
 public:
  Running(std::uint64_t id, std::unique_ptr<Exchange> exchange)
      : id_(id),
        exchange_(std::move(exchange)),
        waits_since_ns_(monotonic_ns()),
        progress_ns_(waits_since_ns_) {}

  HttpSink& begin(SharedCounters& counters) {
    const std::uint64_t now = monotonic_ns();
    counters.add_wait(WaitReason::kLimit, now - waits_since_ns_);
    progress_ns_ += now - waits_since_ns_;
    if (failures_ == 0) progress_ns_ = now;
    return attempt_.emplace(*exchange_, counters);
  }

  // What this attempt brought counts as progress if it was more than a drip.
  void note_progress() {
    const std::uint64_t progress = exchange_->progress();
    if (progress < progress_bytes_ + kProgressBytes) return;
    progress_bytes_ = progress;
    progress_ns_ = monotonic_ns();
    failures_ = 0;
  }

  std::uint64_t give_up_ns(std::uint64_t timeout_ns) const { return progress_ns_ + timeout_ns; }

  const std::uint64_t id_;
  std::unique_ptr<Exchange> exchange_;
  std::optional<Attempt> attempt_;  // while it is under way
  std::uint32_t failures_ = 0;
  Status last_failure_;
  std::uint64_t waits_since_ns_;  // for room
  std::uint64_t pause_begin_ns_ = 0;
  std::uint64_t due_ns_ = 0;
  bool due_is_told_ = false;  // the store said when
  WaitReason pause_reason_ = WaitReason::kBroken;

 private:
  std::uint64_t progress_bytes_ = 0;
  std::uint64_t progress_ns_;
};

Exchanges::Exchanges(ExchangeLimits limits, SharedCounters& counters)
    : limits_(std::move(limits)),
      counters_(counters),
      jitter_seed_(monotonic_ns()),
      last_good_ns_(monotonic_ns()),
      transfers_(http_options(limits_)) {}

Exchanges::~Exchanges() = default;

void Exchanges::start(std::uint64_t id, std::unique_ptr<Exchange> exchange) {
  auto running = std::make_unique<Running>(id, std::move(exchange));
  SharedCounters::add(counters_.in_flight, 1);
  queue_.push_back(running.get());
  running_.emplace(id, std::move(running));
  begin_attempts();
}

void Exchanges::begin_attempts() {
  while (!queue_.empty() && begin_attempt(*queue_.front())) queue_.pop_front();
  if (queue_.empty() && member_) member_->withdraw();
  if (member_) counters_.limit.store(member_->limit(), std::memory_order_relaxed);
}

// An exchange that has to wait for something else (its credentials) has not failed.
bool Exchanges::is_ready(Running& running) {
  Verdict ready = running.exchange_->ready(std::time(nullptr));
  if (ready.status.ok()) return true;
  running.last_failure_ = std::move(ready.status);
  if (ready.retry) {
    pause(running, WaitReason::kCredentials, monotonic_ns() + kReadyCheckNs);
  } else {
    never_ready_.push_back(&running);
  }
  return false;
}

void Exchanges::end_never_ready(std::vector<ExchangeResult>& ended) {
  for (const Running* running : std::exchange(never_ready_, {}))
    finish(running_.find(running->id_), running->last_failure_, ended);
}

// False if there is no room now.
bool Exchanges::begin_attempt(Running& running) {
  if (!is_ready(running)) return true;
  if (member_ && !member_->begin()) return false;
  const HttpRequest request = running.exchange_->request(std::time(nullptr));
  if (!member_ && limits_.limited) {
    const Result<Endpoint> endpoint = endpoint_of_url(request.url);
    member_.emplace(EndpointLimit::of(endpoint.ok() ? endpoint->url() : request.url),
                    limits_.connections_max, [this] { transfers_.wake(); });
    if (!member_->begin()) return false;
  }
  transfers_.start(running.id_, request, running.begin(counters_));
  return true;
}

void Exchanges::step(std::uint64_t deadline_ns, std::vector<ExchangeResult>& ended) {
  queue_due(monotonic_ns());
  begin_attempts();
  end_never_ready(ended);
  results_.clear();
  transfers_.step(ended.empty() ? std::min(deadline_ns, next_due_ns()) : 0, results_);
  for (const HttpResult& result : results_) settle(result, ended);
  begin_attempts();
  end_too_slow(monotonic_ns(), ended);
}

// Attempts that trickle never stall, so they are looked at from here.
void Exchanges::end_too_slow(std::uint64_t now_ns, std::vector<ExchangeResult>& ended) {
  if (now_ns < slow_check_ns_) return;
  slow_check_ns_ = now_ns + limits_.timeout_ns / 8;
  for (auto at = running_.begin(); at != running_.end();) {
    const auto next = std::next(at);
    Running& running = *at->second;
    if (running.attempt_) running.note_progress();
    const bool is_slow = running.attempt_ || running.due_ns_ > 0;
    if (is_slow && now_ns > running.give_up_ns(limits_.timeout_ns)) {
      drop(running);
      Status reason =
          running.last_failure_.ok() ? too_slow(limits_.timeout_ns) : running.last_failure_;
      finish(at, given_up(reason, running.failures_ + 1), ended);
    }
    at = next;
  }
}

void Exchanges::settle(const HttpResult& result, std::vector<ExchangeResult>& ended) {
  const auto at = running_.find(result.id);
  Running& running = *at->second;
  Attempt& attempt = *running.attempt_;
  Verdict verdict = attempt.judge(result);
  const std::uint64_t now = monotonic_ns();
  const AttemptEnd end = attempt.end(result);
  if (member_) member_->end(end, now);
  if (end == AttemptEnd::kGood) {
    if (now > last_good_ns_ + kOutageNs) end_pauses(now);
    last_good_ns_ = now;
  }
  running.note_progress();
  const WaitReason reason = attempt.reason(result);
  const std::uint64_t told_ns = attempt.retry_after_ns();
  running.attempt_.reset();
  if (verdict.status.ok() || !verdict.retry) return finish(at, std::move(verdict.status), ended);
  ++running.failures_;
  const std::uint64_t until =
      now + std::max(backoff_ns(running.failures_, jitter_seed_, ++jitter_draws_), told_ns);
  if (until >= running.give_up_ns(limits_.timeout_ns) || running.failures_ >= limits_.attempts_max)
    return finish(at, given_up(verdict.status, running.failures_), ended);
  running.last_failure_ = std::move(verdict.status);
  running.due_is_told_ = told_ns > 0;
  SharedCounters::add(counters_.retried, 1);
  pause(running, reason, until);
}

void Exchanges::pause(Running& running, WaitReason reason, std::uint64_t until_ns) {
  running.pause_reason_ = reason;
  running.pause_begin_ns_ = monotonic_ns();
  running.due_ns_ = until_ns;
  paused_.push_back(&running);
}

void Exchanges::finish(RunningMap::iterator at, Status status, std::vector<ExchangeResult>& ended) {
  counters_.end(status.ok());
  auto exchange = std::move(at->second->exchange_);
  status = std::move(status).with_context(exchange->what());
  ended.push_back({at->first, std::move(exchange), std::move(status)});
  running_.erase(at);
}

void Exchanges::cancel(std::uint64_t id) {
  const auto at = running_.find(id);
  if (at == running_.end()) return;
  drop(*at->second);
  counters_.end(false);
  running_.erase(at);
}

// Ends what is under way for it.
void Exchanges::drop(Running& running) {
  if (running.attempt_) {
    transfers_.cancel(running.id_);
    if (member_) member_->end(AttemptEnd::kOther, monotonic_ns());
  }
  std::erase(paused_, &running);
  std::erase(queue_, &running);
  std::erase(never_ready_, &running);
}

void Exchanges::queue_due(std::uint64_t now_ns) {
  std::erase_if(paused_, [this, now_ns](Running* running) {
    if (running->due_ns_ > now_ns) return false;
    counters_.add_wait(running->pause_reason_, now_ns - running->pause_begin_ns_);
    running->due_ns_ = 0;
    running->waits_since_ns_ = now_ns;
    queue_.push_back(running);
    return true;
  });
}

// After an outage: all come back at once, in turn by the endpoint's limit, but for those that were
// told when.
void Exchanges::end_pauses(std::uint64_t now_ns) {
  for (Running* running : paused_)
    if (!running->due_is_told_) running->due_ns_ = now_ns;
}

std::uint64_t Exchanges::next_due_ns() const {
  std::uint64_t due = UINT64_MAX;
  for (const Running* running : paused_) due = std::min(due, running->due_ns_);
  return due;
}

}  // namespace echoline::source
