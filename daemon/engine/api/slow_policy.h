// What happens when a job falls behind the other jobs of its pass (publish.when_slow).
#pragma once

#include <cstdint>

namespace echoline::engine {

struct SlowPolicy {
  enum class Action : std::uint8_t { kWait, kSplit, kDetach };
  Action action = Action::kWait;
  std::uint64_t lag_rows = 0;   // allowed lag behind the foremost job
  std::uint64_t ring_rows = 0;  // rows of all slots; a job lags by at most this less one batch
};

}  // namespace echoline::engine
