// What a stream did lately: its counters now, less those of some seconds ago.
#pragma once

#include <cstdint>
#include <deque>

#include "engine/api/stats.h"

namespace echoline::engine {

// Not thread safe. Counters are given as a RecentStats of all time, whose passed_ns is a clock.
class RateWindow {
 public:
  static constexpr std::uint64_t kStepNs = 1'000'000'000;
  static constexpr std::size_t kSteps = 10;

  // Whether it is time to note the counters again: once a second.
  bool due(std::uint64_t now_ns) const {
    return noted_.empty() || now_ns >= noted_.back().passed_ns + kStepNs;
  }
  void note(RecentStats totals);
  // Since the oldest note, which is ten seconds old, or as old as the stream.
  RecentStats until(const RecentStats& totals) const;

 private:
  std::deque<RecentStats> noted_;  // oldest first, kSteps at most
};

// Counter by counter; stages by their place.
RecentStats operator-(const RecentStats& later, const RecentStats& earlier);

}  // namespace echoline::engine
