// Puts spans that overlap on several tracks, so that those of one track do not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace echoline::trace {

// Not thread safe.
class Lanes {
 public:
  // The first lane that is free for the whole span. Spans come in the order of their ends.
  std::uint32_t place(std::uint64_t begin_ns, std::uint64_t end_ns) {
    const auto free =
        std::find_if(free_from_ns_.begin(), free_from_ns_.end(),
                     [begin_ns](std::uint64_t from_ns) { return from_ns <= begin_ns; });
    const auto lane = static_cast<std::uint32_t>(free - free_from_ns_.begin());
    if (free == free_from_ns_.end()) free_from_ns_.push_back(0);
    free_from_ns_[lane] = std::max(free_from_ns_[lane], end_ns);
    return lane;
  }

 private:
  std::vector<std::uint64_t> free_from_ns_;  // as many as there were reads at a time
};

}  // namespace echoline::trace
