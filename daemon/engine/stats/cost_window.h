// The recent cost of one unit of work, from two counters that grow: time spent and units done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace echoline::engine {

// Not thread safe. Work comes in bursts, so time is cut into samples by the work and not by the
// clock: a stage without work keeps the cost that was measured last. The cost is a mean over
// several samples; when it changes, the samples from before are dropped, and the one in which it
// changed. The less samples vary, the smaller a change is seen. The first samples are short, so
// that a cost is known soon, if only roughly.
class CostWindow {
 public:
  static constexpr std::size_t kSamplesMax = 16;
  static constexpr double kFirstPart = 1.0 / 16;

  struct Work {
    std::uint64_t spent_ns = 0;
    std::uint64_t units = 0;
    double cost_ns() const;  // per unit; 0 without any
  };

  // How much work a sample has: at least `least`, and then no more than so many units, however
  // little time they took.
  struct Sample {
    Work least;
    std::uint64_t enough_units = std::numeric_limits<std::uint64_t>::max();
  };
  explicit CostWindow(Sample sample) : sample_(sample) {}

  // The counters now.
  void see(Work total);
  bool has_seen_units() const { return total_.units != 0; }
  // Nanoseconds per unit over the samples; over all work while there are none; 0 without any.
  double cost_ns() const;
  // How far the cost may be from the true one: its relative standard error. 1: nothing is known.
  double error() const;

 private:
  bool is_enough(const Work& work) const;
  // Whether the last `recent` samples differ from those before by more than chance explains.
  bool has_changed(std::size_t recent) const;
  void drop_outdated();

  const Sample sample_;
  double part_ = kFirstPart;  // of a sample's time and units; doubles with each one, up to 1
  Work total_;
  Work begin_;                 // of the sample that is being collected
  std::vector<Work> samples_;  // older first
};

}  // namespace echoline::engine
