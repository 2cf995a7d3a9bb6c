#include "source/http/second_requests.h"

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "base/log.h"

namespace echoline::source {
namespace {

// Often enough for a late request (at least 100 ms), and cheap.
constexpr std::uint64_t kLateCheckNs = 10'000'000;
// Four looks in the window in which a rate is measured.
constexpr std::uint64_t kSlowCheckNs = BodyPace::kWindowNs / 4;
constexpr std::uint64_t kSlowLogNs = 60'000'000'000;

}  // namespace

SecondRequests::SecondRequests(bool enabled, SharedCounters& counters)
    : counters_(counters),
      // Disabled: the time of the next check never comes.
      late_check_ns_(enabled ? 0 : UINT64_MAX),
      slow_check_ns_(late_check_ns_),
      slow_log_(kSlowLogNs) {}

std::vector<OperationState*> SecondRequests::find_late(const OperationStates& states,
                                                       std::uint64_t now_ns) {
  if (now_ns < late_check_ns_) return {};
  late_check_ns_ = now_ns + kLateCheckNs;
  std::vector<OperationState*> late;
  const std::optional<std::uint64_t> late_after_ns = hedging_.late_after_ns();
  if (!late_after_ns) return late;
  for (const auto& [id, state] : states)
    if (state->silent_ns(now_ns) > *late_after_ns) late.push_back(state.get());
  // The latest first, because the budget may not be enough for all.
  std::sort(late.begin(), late.end(), [now_ns](OperationState* a, OperationState* b) {
    return a->silent_ns(now_ns) > b->silent_ns(now_ns);
  });
  return late;
}

SecondRequests::Slow SecondRequests::find_slow(const OperationStates& states,
                                               std::uint64_t now_ns) {
  if (now_ns < slow_check_ns_) return {};
  // After a pause of this thread the measured rates say nothing about the store.
  const bool was_away = slow_check_ns_ > 0 && now_ns > slow_check_ns_ + BodyPace::kWindowNs;
  slow_check_ns_ = now_ns + kSlowCheckNs;
  const std::optional<double> low_rate = body_rates_.low_rate();
  Slow found;
  for (const auto& [id, state] : states) {
    if (state->is_replaced()) found.replaced.push_back(state.get());
    if (was_away) state->restart_pace(now_ns);
    if (low_rate && state->is_slow(*low_rate, now_ns)) found.slow.push_back(state.get());
  }
  return found;
}

void SecondRequests::note_decided(const OperationState& state, AttemptRole role) {
  // Both kinds pay from the same budget.
  hedging_.note_hedge();
  if (role == AttemptRole::kReplacement && slow_log_.due(monotonic_ns())) log_slow(state);
}

void SecondRequests::log_slow(const OperationState& state) {
  log_warning("source",
              "{}: its answer arrives at {:.0f} KB/s, and 19 of 20 others were faster than {:.0f} "
              "KB/s; its rest is requested a second time (further ones are counted in "
              "echoline_source_replaced_total)",
              state.operation_->what(), state.slow_rate() / 1e3,
              body_rates_.low_rate().value_or(0) / 1e3);
}

void SecondRequests::note_end(const Attempt& attempt, bool won, std::uint64_t now_ns) {
  // Only the answer that was used counts, otherwise hedges would make the store look faster.
  if (won) hedging_.note_answer(attempt.waited_ns());
  // Also of attempts that lost or broke off: their bytes arrived at the store's rate.
  if (attempt.answer_ns() > 0) body_rates_.note_body(attempt.bytes(), now_ns - attempt.answer_ns());
  // What follows is only for second requests.
  if (attempt.role() == AttemptRole::kFirst) return;
  --in_flight_;
  const bool is_hedge = attempt.role() == AttemptRole::kHedge;
  SharedCounters::add(is_hedge ? (won ? counters_.hedges_won : counters_.hedges_lost)
                               : (won ? counters_.replaced_won : counters_.replaced_lost),
                      1);
}

}  // namespace echoline::source
