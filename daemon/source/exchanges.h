// Exchanges under way: attempts, time-outs and back-off over HttpTransfers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "source/exchange.h"
#include "source/http_transfers.h"
#include "source/source.h"

namespace echoline::source {

// Counters that the polling thread writes and any thread reads.
struct SharedCounters {
  std::atomic<std::uint64_t> ok{0}, retried{0}, failed{0}, bytes{0}, in_flight{0};

  Counters snapshot() const { return {ok, retried, failed, bytes, in_flight}; }
};

struct ExchangeLimits {
  std::uint64_t timeout_ns = 60'000'000'000;  // without progress, over all attempts
  std::uint32_t attempts_max = 1'000'000;
  std::size_t connections_max = 32;
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

  // Moves attempts on, waiting at most until the deadline (monotonic_ns) for the first event;
  // appends the exchanges that ended, well or not.
  void step(std::uint64_t deadline_ns, std::vector<ExchangeResult>& ended);

  void wake() { transfers_.wake(); }

 private:
  class Running;
  using RunningMap = std::unordered_map<std::uint64_t, std::unique_ptr<Running>>;

  void begin_attempt(Running& running);
  void end_never_ready(std::vector<ExchangeResult>& ended);
  void settle(const HttpResult& result, std::vector<ExchangeResult>& ended);
  void finish(RunningMap::iterator at, Status status, std::vector<ExchangeResult>& ended);
  void start_due(std::uint64_t now_ns);
  void end_too_slow(std::uint64_t now_ns, std::vector<ExchangeResult>& ended);
  std::uint64_t next_due_ns() const;

  const ExchangeLimits limits_;
  SharedCounters& counters_;
  RunningMap running_;
  std::vector<Running*> waiting_;      // for their next attempt
  std::vector<Running*> never_ready_;  // to be ended
  std::vector<HttpResult> results_;
  std::uint64_t jitter_seed_;
  std::uint32_t jitter_draws_ = 0;
  std::uint64_t slow_check_ns_ = 0;
  HttpTransfers transfers_;  // last: its transfers point into running_
};

}  // namespace echoline::source
