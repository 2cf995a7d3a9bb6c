// What a source counts: requests, bytes, how long requests take, and what they waited for.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace echoline::source {

// Why a request waited instead of being under way.
enum class WaitReason : std::uint8_t {
  kLimit,        // for room under the limit that all streams share at one endpoint
  kThrottled,    // after the store asked for fewer requests: 429, 503, Retry-After
  kUnreachable,  // after an attempt that found no server
  kStalled,      // after an attempt that brought no byte for read.stall
  kBroken,       // after a reset, a short or a wrong answer, an error of the server
  kImitated,     // read.throttle
  kCredentials,  // for credentials that are being fetched
};
inline constexpr std::array<const char*, 7> kWaitReasonNames = {
    "limit", "throttled", "unreachable", "stalled", "broken", "imitated", "credentials"};

// Upper bounds of the buckets in which request times are counted, in seconds.
inline constexpr std::array<double, 14> kLatencyBounds = {
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60};

// Times of requests that went well, each from its first byte out to its last byte in; pauses and
// earlier attempts are not in them.
struct Latencies {
  std::array<std::uint64_t, kLatencyBounds.size() + 1> counts{};  // by bucket; the last is the rest
  std::uint64_t sum_ns = 0;
};

struct Counters {
  std::uint64_t requests_ok = 0;
  std::uint64_t requests_retried = 0;
  std::uint64_t requests_failed = 0;
  std::uint64_t bytes = 0;
  std::uint64_t in_flight = 0;
  std::uint64_t limit = 0;        // requests that the endpoint is given at once by all; 0: no limit
  std::uint64_t checked = 0;      // whole objects whose bytes agreed with the store's checksum
  std::uint64_t hedges_won = 0;   // second requests that were answered before the first
  std::uint64_t hedges_lost = 0;  // all other second requests
  std::array<std::uint64_t, kWaitReasonNames.size()> wait_ns{};  // by WaitReason, over all requests
  Latencies latencies;
};

// Counters that the polling thread writes and any thread reads.
class SharedCounters {
 public:
  using Count = std::atomic<std::uint64_t>;
  Count ok{0}, retried{0}, failed{0}, bytes{0}, in_flight{0}, limit{0}, checked{0}, hedges_won{0},
      hedges_lost{0};

  static void add(Count& count, std::uint64_t more) {
    count.fetch_add(more, std::memory_order_relaxed);
  }
  void add_wait(WaitReason reason, std::uint64_t ns) {
    add(wait_ns_[static_cast<std::size_t>(reason)], ns);
  }
  void add_latency(std::uint64_t ns);
  // A request that was in flight has ended.
  void end(bool well);

  Counters snapshot() const;

 private:
  std::array<Count, kWaitReasonNames.size()> wait_ns_{};
  std::array<Count, kLatencyBounds.size() + 1> latency_counts_{};
  Count latency_sum_ns_{0};
};

}  // namespace echoline::source
