// The monotonic clock, in nanoseconds. Code whose decisions depend on time takes it as an argument,
// so that tests can set it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace echoline {

// Set by SimulatedClock alone: where the time is read instead of from the system.
inline std::atomic<const std::atomic<std::uint64_t>*> simulated_time_ns{nullptr};

inline std::uint64_t monotonic_ns() {
  if (const auto* simulated = simulated_time_ns.load(std::memory_order_relaxed)) {
    return simulated->load(std::memory_order_relaxed);
  }
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

// While it lives, monotonic_ns() is what it says, in all threads. For simulations; one at a time.
class SimulatedClock {
 public:
  explicit SimulatedClock(std::uint64_t now_ns) : now_ns_(now_ns) { simulated_time_ns = &now_ns_; }
  ~SimulatedClock() { simulated_time_ns = nullptr; }
  SimulatedClock(const SimulatedClock&) = delete;
  SimulatedClock& operator=(const SimulatedClock&) = delete;
  void advance(std::uint64_t ns) { now_ns_ += ns; }

 private:
  std::atomic<std::uint64_t> now_ns_;
};

inline double to_seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace echoline
