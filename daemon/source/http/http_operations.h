// HttpOperations under way: attempts, time-outs, back-off and the endpoint's limit over
// HttpTransfers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "source/core/counters.h"
#include "source/http/endpoint_limit.h"
#include "source/http/hedging.h"
#include "source/http/http_operation.h"
#include "source/http/http_transfers.h"
#include "source/http/operation_state.h"

namespace echoline::source {

struct OperationLimits {
  std::uint64_t timeout_ns = 60'000'000'000;  // without progress, over all attempts
  std::uint64_t stall_ns = 15'000'000'000;    // without a byte, of one attempt
  std::uint32_t attempts_max = 1'000'000;
  std::size_t connections_max = 32;
  bool limited = true;  // takes part in the limit that all share at the endpoint
  bool hedged = false;  // who is late is asked for a second time, where there is room
  std::string ca_file;
};

struct OperationResult {
  std::uint64_t id = 0;
  std::unique_ptr<HttpOperation> exchange;
  Status status;
};

// One thread, but wake() may be called by any. Owns the exchanges until they are given back with
// their result. The number of exchanges is the caller's to bound.
class HttpOperations {
 public:
  HttpOperations(OperationLimits limits, SharedCounters& counters);
  ~HttpOperations();

  void start(std::uint64_t id, std::unique_ptr<HttpOperation> exchange);
  std::size_t size() const { return running_.size(); }
  // How many attempts at once the endpoint, or this one's own bound, lets through now.
  std::size_t limit() const {
    return member_ ? std::min(limits_.connections_max, member_->limit()) : limits_.connections_max;
  }

  // Ends an exchange without a result; nothing if it has ended.
  void cancel(std::uint64_t id);

  // Moves attempts on, waiting at most until the deadline (monotonic_ns) for the first event;
  // appends the exchanges that ended, well or not.
  void step(std::uint64_t deadline_ns, std::vector<OperationResult>& ended);

  void wake() { transfers_.wake(); }

 private:
  using OperationMap = std::unordered_map<std::uint64_t, std::unique_ptr<OperationState>>;

  void begin_attempts();
  bool is_ready(OperationState& running);
  void end_never_ready(std::vector<OperationResult>& ended);
  bool begin_attempt(OperationState& running);
  void hedge_late(std::uint64_t now_ns);
  bool has_room_for_hedge() const;
  bool hedge(OperationState& running);
  void settle(const HttpResult& result, std::vector<OperationResult>& ended);
  void pause(OperationState& running, WaitReason reason, std::uint64_t until_ns);
  void finish(OperationMap::iterator at, Status status, std::vector<OperationResult>& ended);
  void end_attempt(OperationState& running, Place place, AttemptEnd how);
  void drop_attempt(OperationState& running, Place place);
  void drop(OperationState& running);
  void queue_due(std::uint64_t now_ns);
  void end_pauses(std::uint64_t now_ns);
  void end_too_slow(std::uint64_t now_ns, std::vector<OperationResult>& ended);
  std::uint64_t next_due_ns() const;

  const OperationLimits limits_;
  SharedCounters& counters_;
  OperationMap running_;
  std::deque<OperationState*> queue_;         // for an attempt, first come first
  std::vector<OperationState*> paused_;       // until their next attempt is due
  std::vector<OperationState*> never_ready_;  // to be ended
  std::vector<HttpResult> results_;
  std::uint64_t jitter_seed_;
  std::uint32_t jitter_draws_ = 0;
  std::uint64_t slow_check_ns_ = 0;
  std::uint64_t last_good_ns_;
  Hedging hedging_;
  std::size_t hedges_under_way_ = 0;
  std::uint64_t hedge_check_ns_;
  HttpTransfers transfers_;                      // its transfers point into running_
  std::optional<EndpointLimit::Member> member_;  // of the endpoint of the first request
};

}  // namespace echoline::source
