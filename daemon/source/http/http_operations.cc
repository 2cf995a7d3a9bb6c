// Time rules: an attempt that receives nothing for `stall_ns` is retried. An operation fails after
// `timeout_ns` without progress, however many attempts that took. Waiting for room under the
// endpoint's limit does not count.
#include "source/http/http_operations.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"

namespace echoline::source {
namespace {

// Credentials are renewed elsewhere; this is how often a waiting operation asks for them.
constexpr std::uint64_t kReadyCheckNs = 5'000'000;
// Failures that pass sooner are no news.
constexpr std::uint64_t kFailingNs = 5'000'000'000;

// One operation can have two transfers in flight.
std::uint64_t transfer_id(const OperationState& state, AttemptSlot slot) {
  // The lowest bit is the slot, so the result of a transfer leads to its attempt.
  return state.id_ << 1 | slot;
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

// A request can be signed now.
bool has_key(const OperationState& state) {
  return state.operation_->ready(std::time(nullptr)).status.ok();
}

// An operation that fails again and again.
void log_failing(const OperationState& state, std::uint64_t timeout_ns, RateLimiter& limiter) {
  const std::uint64_t now_ns = monotonic_ns(), failing_ns = state.without_progress_ns(now_ns);
  if (failing_ns < kFailingNs || !limiter.due(now_ns)) return;
  log_warning("source",
              "{}: {}; no progress for {:.0f} s, attempt {} follows, given up after {:.0f} s",
              state.operation_->what(), state.last_failure_.message(),
              static_cast<double>(failing_ns) / 1e9, state.failures_ + 1,
              static_cast<double>(timeout_ns) / 1e9);
}

}  // namespace

HttpOperations::HttpOperations(OperationLimits limits, SharedCounters& counters)
    : limits_(std::move(limits)),
      counters_(counters),
      second_requests_(limits_.hedged, counters),
      transfers_(http_options(limits_)) {}

HttpOperations::~HttpOperations() = default;

void HttpOperations::start(std::uint64_t id, std::unique_ptr<HttpOperation> operation) {
  auto state = std::make_unique<OperationState>(id, std::move(operation));
  SharedCounters::add(counters_.in_flight, 1);
  queue_.push_back(state.get());
  states_.emplace(id, std::move(state));
  begin_attempts();
}

void HttpOperations::begin_attempts() {
  while (!queue_.empty() && begin_attempt(*queue_.front())) queue_.pop_front();
  // Nothing is queued any more, so this stream must not be woken for room.
  if (queue_.empty() && member_) member_->withdraw();
  if (member_) counters_.limit.store(member_->limit(), std::memory_order_relaxed);
}

bool HttpOperations::check_ready(OperationState& state) {
  Verdict ready = state.operation_->ready(std::time(nullptr));
  if (ready.status.ok()) return true;
  state.last_failure_ = std::move(ready.status);
  if (ready.retry) {
    state.note_queued(counters_);
    paused_.pause(state, WaitReason::kCredentials, monotonic_ns() + kReadyCheckNs);
  } else {
    never_ready_.push_back(&state);
  }
  return false;
}

// Not ended in begin_attempts, because that would change the queue while it is walked.
void HttpOperations::end_never_ready(std::vector<OperationResult>& ended) {
  for (const OperationState* state : std::exchange(never_ready_, {}))
    finish(states_.find(state->id_), state->last_failure_, ended);
}

bool HttpOperations::begin_attempt(OperationState& state) {
  const bool replaces = state.queued_for_replacement_;
  // A slow answer goes on without a replacement whose credentials have ended in the queue.
  const bool is_ready = replaces ? has_key(state) : check_ready(state);
  if (is_ready && member_ && !member_->begin()) return false;
  state.queued_for_replacement_ = false;
  if (is_ready && replaces) start_second(state, AttemptRole::kReplacement);
  if (!is_ready || replaces) return true;
  const HttpRequest request = state.operation_->request(std::time(nullptr));
  // The endpoint is known only now, from the first request.
  if (!member_) {
    member_.join(request.url, limits_.connections_max, [this] { transfers_.wake(); });
    if (!member_->begin()) return false;
  }
  second_requests_.note_request();
  transfers_.start(transfer_id(state, 0), request, state.begin(counters_));
  return true;
}

void HttpOperations::hedge_late(std::uint64_t now_ns) {
  for (OperationState* state : second_requests_.find_late(states_, now_ns))
    if (!hedge(*state)) break;
}

// While the store refuses requests, there are no second ones.
bool HttpOperations::may_send_second(OperationState& state) const {
  return second_requests_.has_budget() && member_ && !member_->is_reduced() && has_key(state);
}

bool HttpOperations::hedge(OperationState& state) {
  // Only a connection that would be idle otherwise: hedges must not delay first attempts.
  const bool has_room =
      queue_.empty() && states_.size() + second_requests_.in_flight() < limits_.connections_max;
  if (!has_room || !may_send_second(state)) return false;
  if (!member_->begin()) {
    // A hedge does not wait for room.
    member_->withdraw();
    return false;
  }
  second_requests_.note_decided(state, AttemptRole::kHedge);
  start_second(state, AttemptRole::kHedge);
  return true;
}

// The caller has taken the room for it.
void HttpOperations::start_second(OperationState& state, AttemptRole role) {
  second_requests_.note_sent();
  const std::uint64_t id = transfer_id(state, state.free_slot());
  transfers_.start(id, state.operation_->request(std::time(nullptr)),
                   state.begin_second(role, counters_));
}

// The bytes of a slow answer are needed before those of the queue, so its second request goes
// first. The slow answer continues until the second one begins; then it may be silent, so it is
// ended here.
void HttpOperations::replace_slow(std::uint64_t now_ns) {
  const SecondRequests::Slow found = second_requests_.find_slow(states_, now_ns);
  for (OperationState* state : found.replaced) drop_attempt(*state, state->has_answer(0) ? 1 : 0);
  for (OperationState* state : found.slow) {
    if (!may_send_second(*state)) break;
    second_requests_.note_decided(*state, AttemptRole::kReplacement);
    state->queued_for_replacement_ = true;
    queue_.push_front(state);
  }
}

// Queued operations come before hedges, which only use what is left. What is started here is in
// flight before the poll. The poll does not wait if results are there already.
void HttpOperations::step(std::uint64_t deadline_ns, std::vector<OperationResult>& ended) {
  paused_.queue_due(monotonic_ns(), queue_, counters_);
  begin_attempts();
  end_never_ready(ended);
  hedge_late(monotonic_ns());
  replace_slow(monotonic_ns());
  begin_attempts();
  results_.clear();
  deadline_ns = std::min(deadline_ns, paused_.next_due_ns());
  if (!states_.empty()) deadline_ns = std::min(deadline_ns, second_requests_.next_check_ns());
  transfers_.step(ended.empty() ? deadline_ns : 0, results_);
  for (const HttpResult& result : results_) settle(result, ended);
  begin_attempts();
  end_too_slow(monotonic_ns(), ended);
}

// A transfer that delivers a few bytes now and then never stalls, so this check finds it.
void HttpOperations::end_too_slow(std::uint64_t now_ns, std::vector<OperationResult>& ended) {
  if (now_ns < slow_check_ns_) return;
  // An eighth of the time-out is exact enough.
  slow_check_ns_ = now_ns + limits_.timeout_ns / 8;
  for (auto at = states_.begin(); at != states_.end();) {
    const auto next = std::next(at);
    OperationState& state = *at->second;
    if (state.in_flight()) state.note_progress();
    // Queued operations are not slow: they wait for the limit, not for the store.
    const bool is_slow = state.in_flight() || state.due_ns_ > 0;
    if (is_slow && now_ns > state.give_up_ns(limits_.timeout_ns)) {
      drop(state);
      Status reason = state.last_failure_.ok() ? too_slow(limits_.timeout_ns) : state.last_failure_;
      finish(at, given_up(reason, state.failures_ + 1), ended);
    }
    at = next;
  }
}

// The order matters. The attempt gives its room back before the operation pauses, because a pause
// must not hold room. And progress is noted before the decision: a long answer that broke off may
// be tried again.
void HttpOperations::settle(const HttpResult& result, std::vector<OperationResult>& ended) {
  const auto at = states_.find(result.id >> 1);
  const auto slot = static_cast<AttemptSlot>(result.id & 1);
  // The other attempt may have ended the operation in this same step.
  if (at == states_.end() || !at->second->attempt(slot)) return;
  OperationState& state = *at->second;
  Attempt& attempt = *state.attempt(slot);
  const AttemptEnd end = attempt.end(result);
  // The other attempt is still in flight and may succeed, so this one does not decide.
  if (state.attempt(other(slot)) && !state.has_answer(slot)) return end_attempt(state, slot, end);
  Verdict verdict = attempt.judge(result);
  const WaitReason reason = attempt.reason(result);
  const std::uint64_t retry_after_ns = attempt.retry_after_ns();
  end_attempt(state, slot, end);
  // The operation has one answer: a second request is no longer needed.
  drop_attempt(state, other(slot));
  state.note_progress();
  if (verdict.status.ok() || !verdict.retry) return finish(at, std::move(verdict.status), ended);
  if (verdict.at_once) return paused_.queue_at_once(state, queue_, counters_);
  ++state.failures_;
  const std::uint64_t until = paused_.retry_time_ns(state, retry_after_ns, monotonic_ns());
  // Do not pause beyond the deadline: fail now, with the last reason.
  if (until >= state.give_up_ns(limits_.timeout_ns) || state.failures_ >= limits_.attempts_max)
    return finish(at, given_up(verdict.status, state.failures_), ended);
  state.last_failure_ = std::move(verdict.status);
  state.due_set_by_store_ = retry_after_ns > 0;
  SharedCounters::add(counters_.retried, 1);
  log_failing(state, limits_.timeout_ns, failing_log_);
  paused_.pause(state, reason, until);
}

// Returns the operation with its result and forgets it. Some refusals are the answer that was asked
// for, and count as success (HttpOperation::is_answer).
void HttpOperations::finish(OperationStates::iterator at, Status status,
                            std::vector<OperationResult>& ended) {
  auto operation = std::move(at->second->operation_);
  counters_.end(operation->is_answer(status));
  status = std::move(status).with_context(operation->what());
  ended.push_back({at->first, std::move(operation), std::move(status)});
  states_.erase(at);
}

void HttpOperations::cancel(std::uint64_t id) {
  const auto at = states_.find(id);
  if (at == states_.end()) return;
  drop(*at->second);
  counters_.end(false);
  states_.erase(at);
}

// Gives back the room of an attempt, and notes what its end and size say about the store.
void HttpOperations::end_attempt(OperationState& state, AttemptSlot slot, AttemptEnd how) {
  const std::uint64_t now = monotonic_ns();
  if (member_) member_->end(how, state.attempt(slot)->seen(), now);
  if (how == AttemptEnd::kGood) paused_.note_good_answer(now);
  second_requests_.note_end(*state.attempt(slot), state.has_answer(slot), now);
  state.attempt(slot).reset();
  // A second request makes sense only while the first one is in flight.
  if (std::exchange(state.queued_for_replacement_, false)) std::erase(queue_, &state);
}

// Cancels an attempt, if it is in flight. Its end says nothing about the store (kOther).
void HttpOperations::drop_attempt(OperationState& state, AttemptSlot slot) {
  if (!state.attempt(slot)) return;
  transfers_.cancel(transfer_id(state, slot));
  end_attempt(state, slot, AttemptEnd::kOther);
}

void HttpOperations::drop(OperationState& state) {
  drop_attempt(state, 0);
  drop_attempt(state, 1);
  paused_.remove(state);
  std::erase(queue_, &state);
  std::erase(never_ready_, &state);
}

}  // namespace echoline::source
