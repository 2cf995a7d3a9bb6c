// The rules of time: an attempt that hears nothing for `stall_ns` is tried anew; an exchange is
// given up when `timeout_ns` has passed without progress, however many attempts that took. Waiting
// for room under the endpoint's limit is no lack of progress.
#include "source/http/http_operations.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/clock.h"
#include "source/http/backoff.h"
#include "source/http/endpoint.h"

namespace echoline::source {
namespace {

// A good answer after this long without any means that the store is back.
constexpr std::uint64_t kOutageNs = 1'000'000'000;
constexpr std::uint64_t kReadyCheckNs = 5'000'000;
constexpr std::uint64_t kHedgeCheckNs = 10'000'000;

// Two transfers may be under way for one exchange.
std::uint64_t transfer_id(const OperationState& running, Place place) {
  return running.id_ << 1 | static_cast<std::uint64_t>(place);
}

HttpOptions http_options(const OperationLimits& limits) {
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

HttpOperations::HttpOperations(OperationLimits limits, SharedCounters& counters)
    : limits_(std::move(limits)),
      counters_(counters),
      jitter_seed_(monotonic_ns()),
      last_good_ns_(monotonic_ns()),
      hedge_check_ns_(limits_.hedged ? 0 : UINT64_MAX),
      transfers_(http_options(limits_)) {}

HttpOperations::~HttpOperations() = default;

void HttpOperations::start(std::uint64_t id, std::unique_ptr<HttpOperation> exchange) {
  auto running = std::make_unique<OperationState>(id, std::move(exchange));
  SharedCounters::add(counters_.in_flight, 1);
  queue_.push_back(running.get());
  running_.emplace(id, std::move(running));
  begin_attempts();
}

void HttpOperations::begin_attempts() {
  while (!queue_.empty() && begin_attempt(*queue_.front())) queue_.pop_front();
  if (queue_.empty() && member_) member_->withdraw();
  if (member_) counters_.limit.store(member_->limit(), std::memory_order_relaxed);
}

// An exchange that has to wait for something else (its credentials) has not failed.
bool HttpOperations::is_ready(OperationState& running) {
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

void HttpOperations::end_never_ready(std::vector<OperationResult>& ended) {
  for (const OperationState* running : std::exchange(never_ready_, {}))
    finish(running_.find(running->id_), running->last_failure_, ended);
}

// False if there is no room now.
bool HttpOperations::begin_attempt(OperationState& running) {
  if (!is_ready(running)) return true;
  if (member_ && !member_->begin()) return false;
  const HttpRequest request = running.exchange_->request(std::time(nullptr));
  if (!member_ && limits_.limited) {
    const Result<Endpoint> endpoint = endpoint_of_url(request.url);
    member_.emplace(EndpointLimit::of(endpoint.ok() ? endpoint->url() : request.url),
                    limits_.connections_max, [this] { transfers_.wake(); });
    if (!member_->begin()) return false;
  }
  hedging_.asked();
  transfers_.start(transfer_id(running, Place::kFirst), request, running.begin(counters_));
  return true;
}

void HttpOperations::hedge_late(std::uint64_t now_ns) {
  if (now_ns < hedge_check_ns_) return;
  hedge_check_ns_ = now_ns + kHedgeCheckNs;
  const std::optional<std::uint64_t> late_ns = hedging_.late_ns();
  if (!late_ns) return;
  OperationState* latest = nullptr;
  do {
    latest = nullptr;
    for (auto& [id, running] : running_)
      if (running->silent_ns(now_ns) > (latest ? latest->silent_ns(now_ns) : *late_ns))
        latest = running.get();
  } while (latest != nullptr && hedge(*latest));
}

// A place that would otherwise be idle: second requests take none from first ones.
bool HttpOperations::has_room_for_hedge() const {
  return hedging_.may_ask_again() && queue_.empty() &&
         running_.size() + hedges_under_way_ < limits_.connections_max && member_ &&
         !member_->is_reduced();
}

// False if there is no room now.
bool HttpOperations::hedge(OperationState& running) {
  const std::time_t now = std::time(nullptr);
  if (!has_room_for_hedge() || !running.exchange_->ready(now).status.ok()) return false;
  if (!member_->begin()) {
    member_->withdraw();
    return false;
  }
  hedging_.asked_again();
  ++hedges_under_way_;
  transfers_.start(transfer_id(running, Place::kSecond), running.exchange_->request(now),
                   running.begin_second(counters_));
  return true;
}

void HttpOperations::step(std::uint64_t deadline_ns, std::vector<OperationResult>& ended) {
  queue_due(monotonic_ns());
  begin_attempts();
  end_never_ready(ended);
  hedge_late(monotonic_ns());
  results_.clear();
  transfers_.step(ended.empty() ? std::min(deadline_ns, next_due_ns()) : 0, results_);
  for (const HttpResult& result : results_) settle(result, ended);
  begin_attempts();
  end_too_slow(monotonic_ns(), ended);
}

// Attempts that trickle never stall, so they are looked at from here.
void HttpOperations::end_too_slow(std::uint64_t now_ns, std::vector<OperationResult>& ended) {
  if (now_ns < slow_check_ns_) return;
  slow_check_ns_ = now_ns + limits_.timeout_ns / 8;
  for (auto at = running_.begin(); at != running_.end();) {
    const auto next = std::next(at);
    OperationState& running = *at->second;
    if (running.is_under_way()) running.note_progress();
    const bool is_slow = running.is_under_way() || running.due_ns_ > 0;
    if (is_slow && now_ns > running.give_up_ns(limits_.timeout_ns)) {
      drop(running);
      Status reason =
          running.last_failure_.ok() ? too_slow(limits_.timeout_ns) : running.last_failure_;
      finish(at, given_up(reason, running.failures_ + 1), ended);
    }
    at = next;
  }
}

void HttpOperations::settle(const HttpResult& result, std::vector<OperationResult>& ended) {
  const auto at = running_.find(result.id >> 1);
  const auto place = static_cast<Place>(result.id & 1);
  // It may have ended together with the other attempt, a moment ago.
  if (at == running_.end() || !at->second->attempt(place)) return;
  OperationState& running = *at->second;
  Attempt& attempt = *running.attempt(place);
  const AttemptEnd end = attempt.end(result);
  // The other attempt goes on, so this one decides nothing.
  if (running.attempt(other(place)) && !running.has_answer(place))
    return end_attempt(running, place, end);
  Verdict verdict = attempt.judge(result);
  const WaitReason reason = attempt.reason(result);
  const std::uint64_t told_ns = attempt.retry_after_ns();
  end_attempt(running, place, end);
  drop_attempt(running, other(place));
  running.note_progress();
  if (verdict.status.ok() || !verdict.retry) return finish(at, std::move(verdict.status), ended);
  const std::uint64_t now = monotonic_ns();
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

void HttpOperations::pause(OperationState& running, WaitReason reason, std::uint64_t until_ns) {
  running.pause_reason_ = reason;
  running.pause_begin_ns_ = monotonic_ns();
  running.due_ns_ = until_ns;
  paused_.push_back(&running);
}

void HttpOperations::finish(OperationMap::iterator at, Status status,
                            std::vector<OperationResult>& ended) {
  counters_.end(status.ok());
  auto exchange = std::move(at->second->exchange_);
  status = std::move(status).with_context(exchange->what());
  ended.push_back({at->first, std::move(exchange), std::move(status)});
  running_.erase(at);
}

void HttpOperations::cancel(std::uint64_t id) {
  const auto at = running_.find(id);
  if (at == running_.end()) return;
  drop(*at->second);
  counters_.end(false);
  running_.erase(at);
}

void HttpOperations::end_attempt(OperationState& running, Place place, AttemptEnd how) {
  const std::uint64_t now = monotonic_ns();
  if (member_) member_->end(how, running.attempt(place)->bytes(), now);
  if (how == AttemptEnd::kGood) {
    if (now > last_good_ns_ + kOutageNs) end_pauses(now);
    last_good_ns_ = now;
  }
  const bool won = running.has_answer(place);
  if (won) hedging_.answered(running.attempt(place)->waited_ns());
  if (place == Place::kSecond) {
    --hedges_under_way_;
    SharedCounters::add(won ? counters_.hedges_won : counters_.hedges_lost, 1);
  }
  running.attempt(place).reset();
}

void HttpOperations::drop_attempt(OperationState& running, Place place) {
  if (!running.attempt(place)) return;
  transfers_.cancel(transfer_id(running, place));
  end_attempt(running, place, AttemptEnd::kOther);
}

// Ends what is under way for it.
void HttpOperations::drop(OperationState& running) {
  drop_attempt(running, Place::kFirst);
  drop_attempt(running, Place::kSecond);
  std::erase(paused_, &running);
  std::erase(queue_, &running);
  std::erase(never_ready_, &running);
}

void HttpOperations::queue_due(std::uint64_t now_ns) {
  std::erase_if(paused_, [this, now_ns](OperationState* running) {
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
void HttpOperations::end_pauses(std::uint64_t now_ns) {
  for (OperationState* running : paused_)
    if (!running->due_is_told_) running->due_ns_ = now_ns;
}

std::uint64_t HttpOperations::next_due_ns() const {
  std::uint64_t due = UINT64_MAX;
  for (const OperationState* running : paused_) due = std::min(due, running->due_ns_);
  return running_.empty() ? due : std::min(due, hedge_check_ns_);
}

}  // namespace echoline::source
