// The recent cost of one unit of work, from two counters that grow: time spent and units done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace echoline::engine {

// Not thread safe. Work comes in bursts, so time is cut into samples by the work and not by the
// clock: a stage without work keeps the cost that was measured last. The cost is a mean over
// several samples; when it changes, the samples from before are dropped.
class CostWindow {
 public:
  static constexpr std::size_t kSamplesMax = 8;

  struct Work {
    std::uint64_t spent_ns = 0;
    std::uint64_t units = 0;
    double cost_ns() const;  // per unit; 0 without any
  };

  // A sample has at least this much work.
  explicit CostWindow(Work sample) : sample_(sample) {}

  // The counters now.
  void see(Work total);
  // Nanoseconds per unit over the samples; over all work while there are none; 0 without any.
  double cost_ns() const;
  // How far the cost may be from the true one: its relative standard error. 1: nothing is known.
  double error() const;

 private:
  // The mean of all samples but the last `left_out`.
  double mean_ns(std::size_t left_out) const;
  void drop_outdated();

  const Work sample_;
  Work total_;
  Work begin_;                // of the sample that is being collected
  std::deque<Work> samples_;  // older first
};

}  // namespace echoline::engine
