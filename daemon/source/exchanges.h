// Exchanges under way: attempts, time-outs, back-off and the endpoint's limit over HttpTransfers.
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
#include "source/counters.h"
#include "source/endpoint_limit.h"
#include "source/exchange.h"
#include "source/hedging.h"
#include "source/http_transfers.h"
#include "source/running.h"

namespace echoline::source {

struct ExchangeLimits {
  std::uint64_t timeout_ns = 60'000'000'000;  // without progress, over all attempts
  std::uint64_t stall_ns = 15'000'000'000;    // without a byte, of one attempt
  std::uint32_t attempts_max = 1'000'000;
  std::size_t connections_max = 32;
  bool limited = true;  // takes part in the limit that all share at the endpoint
  bool hedged = false;  // who is late is asked for a second time, where there is room
  std::string ca_file;
};

struct ExchangeResult {
  std::uint64_t id = 0;
  std::unique_ptr<Exchange> exchange;
  Status status;
};

// One thread, but wake() may be called by any. Owns the exchanges until they are given back with
// their result. The number of exchanges is the caller's to bound.
class Exchanges {
 public:
  Exchanges(ExchangeLimits limits, SharedCounters& counters);
  ~Exchanges();

  void start(std::uint64_t id, std::unique_ptr<Exchange> exchange);
  std::size_t size() const { return running_.size(); }
  // How many attempts at once the endpoint, or this one's own bound, lets through now.
  std::size_t limit() const {
    return member_ ? std::min(limits_.connections_max, member_->limit()) : limits_.connections_max;
  }

  // Ends an exchange without a result; nothing if it has ended.
  void cancel(std::uint64_t id);

  // Moves attempts on, waiting at most until the deadline (monotonic_ns) for the first event;
  // appends the exchanges that ended, well or not.
  void step(std::uint64_t deadline_ns, std::vector<ExchangeResult>& ended);

  void wake() { transfers_.wake(); }

 private:
  using RunningMap = std::unordered_map<std::uint64_t, std::unique_ptr<Running>>;

  void begin_attempts();
  bool is_ready(Running& running);
  void end_never_ready(std::vector<ExchangeResult>& ended);
  bool begin_attempt(Running& running);
  void hedge_late(std::uint64_t now_ns);
  bool has_room_for_hedge() const;
  bool hedge(Running& running);
  void settle(const HttpResult& result, std::vector<ExchangeResult>& ended);
  void pause(Running& running, WaitReason reason, std::uint64_t until_ns);
  void finish(RunningMap::iterator at, Status status, std::vector<ExchangeResult>& ended);
  void end_attempt(Running& running, Place place, AttemptEnd how);
  void drop_attempt(Running& running, Place place);
  void drop(Running& running);
  void queue_due(std::uint64_t now_ns);
  void end_pauses(std::uint64_t now_ns);
  void end_too_slow(std::uint64_t now_ns, std::vector<ExchangeResult>& ended);
  std::uint64_t next_due_ns() const;

  const ExchangeLimits limits_;
  SharedCounters& counters_;
  RunningMap running_;
  std::deque<Running*> queue_;         // for an attempt, first come first
  std::vector<Running*> paused_;       // until their next attempt is due
  std::vector<Running*> never_ready_;  // to be ended
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
