// Which operations get a second request: those whose answer is late (a hedge), and those whose
// answer arrives slowly (a replacement).
#pragma once

#include <cstdint>
#include <vector>

#include "base/rate_limiter.h"
#include "source/core/counters.h"
#include "source/http/body_rates.h"
#include "source/http/hedging.h"
#include "source/http/operation_state.h"

namespace echoline::source {

// One thread. Only decides and counts; HttpOperations sends the requests. Both kinds share one
// budget.
class SecondRequests {
 public:
  // Disabled, it finds nothing.
  SecondRequests(bool enabled, SharedCounters& counters);

  // Operations without an answer for too long, the latest first. Empty between two checks.
  std::vector<OperationState*> find_late(const OperationStates& states, std::uint64_t now_ns);

  struct Slow {
    std::vector<OperationState*> slow;      // the answer arrives far below the usual rate
    std::vector<OperationState*> replaced;  // the replacement of a slow answer has begun
  };
  // Empty between two checks.
  Slow find_slow(const OperationStates& states, std::uint64_t now_ns);

  bool has_budget() const { return hedging_.may_hedge(); }
  std::size_t in_flight() const { return in_flight_; }
  std::uint64_t next_check_ns() const { return std::min(late_check_ns_, slow_check_ns_); }

  void note_request() { hedging_.note_request(); }
  // A second request is decided.
  void note_decided(const OperationState& state, AttemptRole role);
  // It is sent.
  void note_sent() { ++in_flight_; }
  // Any attempt has ended; `won`: its answer was used.
  void note_end(const Attempt& attempt, bool won, std::uint64_t now_ns);

 private:
  // Logs a slow answer, at most once a minute.
  void log_slow(const OperationState& state);

  SharedCounters& counters_;
  Hedging hedging_;
  BodyRates body_rates_;
  std::size_t in_flight_ = 0;
  std::uint64_t late_check_ns_;
  std::uint64_t slow_check_ns_;
  RateLimiter slow_log_;
};

}  // namespace echoline::source
