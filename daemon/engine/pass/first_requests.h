// How many bytes a pass may request before its first batch is published.
#pragma once

#include <cstdint>

#include "engine/fetch/fetchers.h"

namespace echoline::engine {

// The first batch waits for its own bytes. Other requests at the same time would share the line
// with them, and none at all would leave it unused until a distant store begins to answer. So
// requests go out as fast as the store has delivered before: then their bytes come after those of
// the first batches, and do not all come together. Used by the pass's thread.
class FirstRequests {
 public:
  explicit FirstRequests(const Fetchers& fetchers) : fetchers_(fetchers) {}

  // Grows from the first call with readers on; 0 without, or where the store's rate is not known.
  std::uint64_t bytes(bool has_readers, std::uint64_t now_ns) {
    if (!has_readers || begin_ns_ == 0) begin_ns_ = has_readers ? now_ns : 0;
    if (!has_readers) return 0;
    const double seconds = 1e-9 * static_cast<double>(now_ns - begin_ns_);
    return static_cast<std::uint64_t>(fetchers_.usual_rate() * seconds);
  }

 private:
  const Fetchers& fetchers_;
  std::uint64_t begin_ns_ = 0;
};

}  // namespace echoline::engine
