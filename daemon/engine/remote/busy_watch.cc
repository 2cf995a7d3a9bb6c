#include "engine/remote/busy_watch.h"

#include "base/log.h"

namespace echoline::engine {

bool BusyWatch::note_busy(RunState& state, std::string_view server, std::string_view why,
                          std::uint64_t now_ns) {
  if (state.is_probe()) return false;
  if (since_ns_ == 0) since_ns_ = now_ns;
  if (state.busy_since_ns == 0) state.busy_since_ns = since_ns_;
  // A request that is still in flight at another server may be answered.
  if (now_ns - state.busy_since_ns < kPatienceNs || !state.calls.empty()) return false;
  if (log_.due(now_ns)) {
    log_warning({"prepare", stream_},
                "preparation servers have been too busy for samples from record {} on for {} s; "
                "the last one was {} ({}): {}",
                state.runs.front().records.front(), (now_ns - state.busy_since_ns) / 1'000'000'000,
                server, why,
                wait_ ? "trainers wait (prepare.fallback: wait)"
                      : "this host reads and decodes itself (prepare.fallback: local)");
  }
  return !wait_;
}

}  // namespace echoline::engine
