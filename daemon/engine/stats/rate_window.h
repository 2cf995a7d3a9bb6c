// Counters over the last seconds: their values now, minus those of ten seconds ago.
#pragma once

#include <cstdint>
#include <deque>

#include "engine/api/stats.h"

namespace echoline::engine {

// Not thread safe. Totals are a RecentStats since the stream's creation, whose passed_ns is a
// clock.
class RateWindow {
 public:
  static constexpr std::uint64_t kStepNs = 1'000'000'000;
  static constexpr std::size_t kSteps = 10;

  // Whether it is time to note the totals again: once a second.
  bool due(std::uint64_t now_ns) const {
    return noted_.empty() || now_ns >= noted_.back().passed_ns + kStepNs;
  }
  void note(RecentStats totals);
  // The difference to the oldest note, which is ten seconds old, or as old as the stream.
  RecentStats until(const RecentStats& totals) const;

 private:
  std::deque<RecentStats> noted_;  // oldest first, kSteps at most
};

// Counter by counter; stages by their index.
RecentStats operator-(const RecentStats& later, const RecentStats& earlier);

}  // namespace echoline::engine
