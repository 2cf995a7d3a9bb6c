// Time rules: an attempt that receives nothing for `stall_ns` is retried. An operation fails after
// `timeout_ns` without progress, however many attempts that took. Waiting for room under the
// endpoint's limit does not count.
#include "source/http/http_operations.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "source/http/endpoint.h"

namespace echoline::source {
namespace {

constexpr std::uint64_t kReadyCheckNs = 5'000'000;
constexpr std::uint64_t kHedgeCheckNs = 10'000'000;
constexpr std::uint64_t kPaceCheckNs = BodyPace::kWindowNs / 4;
constexpr std::uint64_t kSlowLogNs = 60'000'000'000;

// One operation can have two transfers in flight.
std::uint64_t transfer_id(const OperationState& state, AttemptSlot slot) {
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

}  // namespace

HttpOperations::HttpOperations(OperationLimits limits, SharedCounters& counters)
    : limits_(std::move(limits)),
      counters_(counters),
      hedge_check_ns_(limits_.hedged ? 0 : UINT64_MAX),
      pace_check_ns_(hedge_check_ns_),
      slow_log_(kSlowLogNs),
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

bool HttpOperations::is_ready(OperationState& state) {
  Verdict ready = state.operation_->ready(std::time(nullptr));
  if (ready.status.ok()) return true;
  state.last_failure_ = std::move(ready.status);
  if (ready.retry) {
    paused_.pause(state, WaitReason::kCredentials, monotonic_ns() + kReadyCheckNs);
  } else {
    never_ready_.push_back(&state);
  }
  return false;
}

void HttpOperations::end_never_ready(std::vector<OperationResult>& ended) {
  for (const OperationState* state : std::exchange(never_ready_, {}))
    finish(states_.find(state->id_), state->last_failure_, ended);
}

bool HttpOperations::begin_attempt(OperationState& state) {
  if (state.queued_for_replacement_) return begin_replacement(state);
  if (!is_ready(state)) return true;
  if (member_ && !member_->begin()) return false;
  const HttpRequest request = state.operation_->request(std::time(nullptr));
  // The endpoint is known only now, from the first request.
  if (!member_ && limits_.limited) {
    const Result<Endpoint> endpoint = endpoint_of_url(request.url);
    member_.emplace(EndpointLimit::of(endpoint.ok() ? endpoint->url() : request.url),
                    limits_.connections_max, [this] { transfers_.wake(); });
    if (!member_->begin()) return false;
  }
  hedging_.note_request();
  transfers_.start(transfer_id(state, 0), request, state.begin(counters_));
  return true;
}

void HttpOperations::hedge_late(std::uint64_t now_ns) {
  if (now_ns < hedge_check_ns_) return;
  hedge_check_ns_ = now_ns + kHedgeCheckNs;
  const std::optional<std::uint64_t> late_after_ns = hedging_.late_after_ns();
  if (!late_after_ns) return;
  // The latest first, until there is no room; a hedged operation is no longer silent.
  OperationState* latest = nullptr;
  do {
    latest = nullptr;
    for (auto& [id, state] : states_)
      if (state->silent_ns(now_ns) > (latest ? latest->silent_ns(now_ns) : *late_after_ns))
        latest = state.get();
  } while (latest != nullptr && hedge(*latest));
}

// Only a connection that would be idle otherwise: hedges must not delay first attempts.
bool HttpOperations::has_room_for_hedge() const {
  return hedging_.may_hedge() && queue_.empty() &&
         states_.size() + hedges_in_flight_ < limits_.connections_max && member_ &&
         !member_->is_reduced();
}

bool HttpOperations::hedge(OperationState& state) {
  const std::time_t now = std::time(nullptr);
  if (!has_room_for_hedge() || !state.operation_->ready(now).status.ok()) return false;
  if (!member_->begin()) {
    // A hedge does not wait for room.
    member_->withdraw();
    return false;
  }
  hedging_.note_hedge();
  start_second(state, AttemptRole::kHedge);
  return true;
}

void HttpOperations::start_second(OperationState& state, AttemptRole role) {
  ++hedges_in_flight_;
  const std::uint64_t id = transfer_id(state, state.free_slot());
  const HttpRequest request = state.operation_->request(std::time(nullptr));
  transfers_.start(id, request, state.begin_second(role, counters_));
}

// The bytes of a slow answer are needed before those of the queue, so its second request goes
// first. The slow answer continues until the second one begins.
void HttpOperations::replace_slow(std::uint64_t now_ns) {
  if (now_ns < pace_check_ns_) return;
  const bool was_away = pace_check_ns_ > 0 && now_ns > pace_check_ns_ + BodyPace::kWindowNs;
  pace_check_ns_ = now_ns + kPaceCheckNs;
  const std::optional<double> low_rate = body_rates_.low_rate();
  for (auto& [id, state] : states_) {
    if (was_away) {
      state->restart_pace(now_ns);
      continue;
    }
    drop_replaced(*state);
    if (!low_rate || !state->is_slow(*low_rate, now_ns) || !may_replace(*state)) continue;
    hedging_.note_hedge();
    state->queued_for_replacement_ = true;
    queue_.push_front(state.get());
    log_slow(*state, *low_rate);
  }
}

bool HttpOperations::may_replace(const OperationState& state) const {
  return !state.queued_for_replacement_ && hedging_.may_hedge() && member_ &&
         !member_->is_reduced();
}

bool HttpOperations::begin_replacement(OperationState& state) {
  if (state.operation_->ready(std::time(nullptr)).status.ok()) {
    if (!member_->begin()) return false;
    start_second(state, AttemptRole::kReplacement);
  }
  state.queued_for_replacement_ = false;
  return true;
}

// A slow attempt may not send another byte for long, so it is ended here.
void HttpOperations::drop_replaced(OperationState& state) {
  for (const AttemptSlot slot : {AttemptSlot{0}, AttemptSlot{1}})
    if (state.has_two() && state.has_answer(slot) &&
        state.attempt(slot)->role() == AttemptRole::kReplacement)
      drop_attempt(state, other(slot));
}

void HttpOperations::log_slow(const OperationState& state, double low_rate) {
  if (!slow_log_.due(monotonic_ns())) return;
  log_warning("source",
              "{}: its answer arrives at {:.0f} KB/s, and 19 of 20 others were faster than {:.0f} "
              "KB/s; its rest is requested a second time (further ones are counted in "
              "echoline_source_replaced_total)",
              state.operation_->what(), state.slow_rate() / 1e3, low_rate / 1e3);
}

void HttpOperations::step(std::uint64_t deadline_ns, std::vector<OperationResult>& ended) {
  paused_.queue_due(monotonic_ns(), queue_, counters_);
  begin_attempts();
  end_never_ready(ended);
  hedge_late(monotonic_ns());
  replace_slow(monotonic_ns());
  begin_attempts();
  results_.clear();
  transfers_.step(ended.empty() ? std::min(deadline_ns, next_due_ns()) : 0, results_);
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
  const std::uint64_t now = monotonic_ns();
  ++state.failures_;
  const std::uint64_t until = paused_.retry_time_ns(state, retry_after_ns, now);
  // Do not pause beyond the deadline: fail now, with the last reason.
  if (until >= state.give_up_ns(limits_.timeout_ns) || state.failures_ >= limits_.attempts_max)
    return finish(at, given_up(verdict.status, state.failures_), ended);
  state.last_failure_ = std::move(verdict.status);
  state.due_set_by_store_ = retry_after_ns > 0;
  SharedCounters::add(counters_.retried, 1);
  paused_.pause(state, reason, until);
}

void HttpOperations::finish(StateMap::iterator at, Status status,
                            std::vector<OperationResult>& ended) {
  counters_.end(status.ok());
  auto operation = std::move(at->second->operation_);
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

void HttpOperations::end_attempt(OperationState& state, AttemptSlot slot, AttemptEnd how) {
  const std::uint64_t now = monotonic_ns();
  if (member_) member_->end(how, state.attempt(slot)->bytes(), now);
  if (how == AttemptEnd::kGood) paused_.note_good_answer(now);
  const bool won = state.has_answer(slot);
  // Only the answer that was used counts, otherwise hedges would make the store look faster.
  if (won) hedging_.note_answer(state.attempt(slot)->waited_ns());
  note_end(*state.attempt(slot), won, now);
  state.attempt(slot).reset();
  // A second request makes sense only while the first one is in flight.
  if (std::exchange(state.queued_for_replacement_, false)) std::erase(queue_, &state);
}

void HttpOperations::note_end(const Attempt& attempt, bool won, std::uint64_t now_ns) {
  if (attempt.answer_ns() > 0) body_rates_.note_body(attempt.bytes(), now_ns - attempt.answer_ns());
  if (attempt.role() == AttemptRole::kFirst) return;
  --hedges_in_flight_;
  const bool is_hedge = attempt.role() == AttemptRole::kHedge;
  if (won)
    SharedCounters::add(is_hedge ? counters_.hedges_won : counters_.replaced_won, 1);
  else
    SharedCounters::add(is_hedge ? counters_.hedges_lost : counters_.replaced_lost, 1);
}

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

std::uint64_t HttpOperations::next_due_ns() const {
  const std::uint64_t due = paused_.next_due_ns();
  return states_.empty() ? due : std::min({due, hedge_check_ns_, pace_check_ns_});
}

}  // namespace echoline::source
