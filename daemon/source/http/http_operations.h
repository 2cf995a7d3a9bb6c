// Runs HttpOperations over HttpTransfers: attempts, time-outs, back-off, hedging and the endpoint's
// limit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/rate_limiter.h"
#include "base/status.h"
#include "source/core/counters.h"
#include "source/http/http_operation.h"
#include "source/http/http_transfers.h"
#include "source/http/late_member.h"
#include "source/http/operation_state.h"
#include "source/http/paused_operations.h"
#include "source/http/second_requests.h"

namespace echoline::source {

struct OperationLimits {
  std::uint64_t timeout_ns = 60'000'000'000;  // without progress, over all attempts
  std::uint64_t stall_ns = 15'000'000'000;    // without a byte, of one attempt
  std::uint32_t attempts_max = 1'000'000;
  std::size_t connections_max = 32;
  bool hedged = false;  // sends a second request if an answer is late or slow
  std::string ca_file;
};

struct OperationResult {
  std::uint64_t id = 0;
  std::unique_ptr<HttpOperation> operation;
  Status status;
};

// One thread, except wake() and rates(), which any thread may call. Owns each operation until it
// returns it with its result. The caller bounds the number of operations.
//
// An operation is in exactly one state: queued (waits for room under the limit), in flight (one or
// two attempts; may be queued for a second one), paused (until its next attempt is due), or never
// ready (about to end).
class HttpOperations {
 public:
  HttpOperations(OperationLimits limits, SharedCounters& counters);
  ~HttpOperations();

  void start(std::uint64_t id, std::unique_ptr<HttpOperation> operation);
  std::size_t size() const { return states_.size(); }
  // How many attempts may be in flight now: the endpoint's limit or this object's own, whichever is
  // lower.
  std::size_t limit() const {
    return member_ ? std::min(limits_.connections_max, member_->limit()) : limits_.connections_max;
  }

  // Ends an operation without a result. Does nothing if it has ended.
  void cancel(std::uint64_t id);

  // Moves attempts on and waits at most until the deadline (monotonic_ns) for the first event.
  // Appends the operations that ended, with success or failure.
  void step(std::uint64_t deadline_ns, std::vector<OperationResult>& ended);
  void wake() { transfers_.wake(); }
  std::vector<EndpointRates> rates() const { return member_.rates(); }

 private:
  // Starts queued operations, oldest first, while there is room.
  void begin_attempts();
  // False: there is no room now. Else it leaves the queue: started, paused, or found never ready.
  bool begin_attempt(OperationState& state);
  // False after pausing an operation whose credentials are not ready, or marking it never ready.
  bool check_ready(OperationState& state);
  void end_never_ready(std::vector<OperationResult>& ended);
  // Sends hedges for late attempts, the latest first.
  void hedge_late(std::uint64_t now_ns);
  bool may_send_second(OperationState& state) const;  // budget, store and credentials allow it
  bool hedge(OperationState& state);                  // false: there is no room for one now
  void start_second(OperationState& state, AttemptRole role);  // the caller has taken its room
  // Queues operations whose answer is slow for a second request, before all others.
  void replace_slow(std::uint64_t now_ns);
  // Takes the end of one transfer: finish, retry, or nothing because the other attempt decides.
  void settle(const HttpResult& result, std::vector<OperationResult>& ended);
  void finish(OperationStates::iterator at, Status status, std::vector<OperationResult>& ended);
  void end_attempt(OperationState& state, AttemptSlot slot, AttemptEnd how);
  void drop_attempt(OperationState& state, AttemptSlot slot);
  // Ends all attempts of an operation and removes it from every list.
  void drop(OperationState& state);
  void end_too_slow(std::uint64_t now_ns, std::vector<OperationResult>& ended);

  const OperationLimits limits_;
  SharedCounters& counters_;
  OperationStates states_;             // owns all; the lists below point into it
  std::deque<OperationState*> queue_;  // in the order of arrival
  PausedOperations paused_;
  std::vector<OperationState*> never_ready_;  // end in this step
  std::vector<HttpResult> results_;
  std::uint64_t slow_check_ns_ = 0;
  RateLimiter failing_log_{30'000'000'000};
  SecondRequests second_requests_;
  HttpTransfers transfers_;  // destroyed before states_: it points into them
  LateMember member_;        // of the endpoint of the first request
};

}  // namespace echoline::source
