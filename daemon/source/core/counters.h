// What a source counts: requests, bytes, request times, and the reasons for waiting.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/histogram.h"

namespace echoline::source {

// Why a request waited instead of being in flight.
enum class WaitReason : std::uint8_t {
  kLimit,        // for room under the limit that all streams share at one endpoint
  kThrottled,    // after the store asked for fewer requests: 429, 503, Retry-After
  kUnreachable,  // after an attempt that found no server
  kStalled,      // after an attempt that received no byte for read.stall
  kBroken,       // after a reset, a short or wrong answer, or a server error
  kImitated,     // read.throttle
  kCredentials,  // for credentials that are being renewed, or that the store refuses
};
inline constexpr std::array<const char*, 7> kWaitReasonNames = {
    "limit", "throttled", "unreachable", "stalled", "broken", "imitated", "credentials"};

// Upper bounds of the buckets of the request time histogram, in seconds.
inline constexpr std::array<double, 14> kLatencyBounds = {
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60};

// Times of successful attempts, from the first byte sent to the last byte received. Pauses and
// earlier attempts do not count.
using Latencies = Histogram<kLatencyBounds>;

struct Counters {
  std::uint64_t requests_ok = 0;
  std::uint64_t requests_retried = 0;
  std::uint64_t requests_failed = 0;
  std::uint64_t requests_redirected = 0;  // answered with another address, which was asked at once
  std::uint64_t bytes = 0;
  std::uint64_t arriving = 0;  // of `bytes`, those of answers that are not complete yet
  std::uint64_t in_flight = 0;
  std::uint64_t limit = 0;          // on requests in flight at the endpoint; 0: no limit
  std::uint64_t checked = 0;        // whole objects that matched the store's checksum
  std::uint64_t damaged = 0;        // answers with wrong bytes that were requested again
  std::uint64_t hedges_won = 0;     // hedges that were answered before the first request
  std::uint64_t hedges_lost = 0;    // all other hedges
  std::uint64_t replaced_won = 0;   // replacements of slow answers whose answer was used
  std::uint64_t replaced_lost = 0;  // all other replacements
  std::array<std::uint64_t, kWaitReasonNames.size()> wait_ns{};  // by WaitReason, over all requests
  Latencies latencies;
  std::uint64_t answer_ns = 0;  // of the sum of `latencies`, until the first byte of the answer
  // The shortest time until the first byte of an answer, lately; 0: none yet. Of several sources:
  // of one that has answered.
  std::uint64_t least_answer_ns = 0;

  Counters& operator+=(const Counters& other);
};

// Counters that the polling thread writes and any thread reads.
class SharedCounters {
 public:
  using Count = std::atomic<std::uint64_t>;
  Count ok{0}, retried{0}, failed{0}, redirected{0}, bytes{0}, arriving{0}, in_flight{0}, limit{0},
      checked{0}, damaged{0}, hedges_won{0}, hedges_lost{0}, replaced_won{0}, replaced_lost{0};

  static void add(Count& count, std::uint64_t more) {
    count.fetch_add(more, std::memory_order_relaxed);
  }
  static void take(Count& count, std::uint64_t less) {
    count.fetch_sub(less, std::memory_order_relaxed);
  }
  void add_wait(WaitReason reason, std::uint64_t ns) {
    add(wait_ns_[static_cast<std::size_t>(reason)], ns);
  }
  // `answer_ns`: of it, until the first byte of the answer.
  void add_latency(std::uint64_t ns, std::uint64_t answer_ns = 0);
  // A request that was in flight has ended.
  void end(bool well);

  Counters snapshot() const;

 private:
  std::array<Count, kWaitReasonNames.size()> wait_ns_{};
  std::array<Count, kLatencyBounds.size() + 1> latency_counts_{};
  Count latency_sum_ns_{0}, answer_sum_ns_{0};
  Count least_answer_ns_{0};  // comes up by 1/64 of the difference with each longer answer
};

}  // namespace echoline::source
