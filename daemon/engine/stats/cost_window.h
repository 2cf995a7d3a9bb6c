// The recent cost of one unit of work, from two counters that grow: time spent and units done.
#pragma once

#include <array>
#include <cstdint>

namespace echoline::engine {

// Not thread safe. Work comes in bursts, so time is cut into samples by the work and not by the
// clock: a stage without work keeps the cost that was measured last.
class CostWindow {
 public:
  struct Work {
    std::uint64_t spent_ns = 0;
    std::uint64_t units = 0;
  };

  // A sample has at least this much work.
  explicit CostWindow(Work sample) : sample_(sample) {}

  // The counters now.
  void see(Work total);
  // Nanoseconds per unit over the last two samples; over all work while there are none; 0 without
  // any.
  double cost_ns() const;
  // The last two samples agree: the cost is not changing now.
  bool is_steady() const;

 private:
  const Work sample_;
  Work total_;
  Work begin_;                // of the sample that is being collected
  std::array<Work, 2> last_;  // older first; no units: not there yet
};

}  // namespace echoline::engine
