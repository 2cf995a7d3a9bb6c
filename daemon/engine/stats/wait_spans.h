// The waits of a trainer as spans of a trace.
#pragma once

#include <cstdint>

#include "engine/api/stats.h"
#include "ring/ring.h"
#include "trace/recorder.h"

namespace echoline::engine {

// One attachment of one trainer, looked at every hundredth of a second while the stream is traced.
// The sum of the spans is what the trainer's counters say; where short waits begin and end is known
// to a hundredth of a second. Not thread safe.
class WaitSpans {
 public:
  struct Look {
    ring::ReaderView view;
    std::uint64_t more_ns = 0;  // that it has waited since the last look
    WaitCause cause = WaitCause::kFetch;
    const char* place = nullptr;  // of kFetch: where the bytes are
    std::uint64_t now_ns = 0;
  };
  // `track`: of the trainer. The first look only sets the clock.
  void see(trace::Recorder& recorder, std::uint32_t track, const Look& look);
  // The wait that has not ended is recorded as far as it has lasted.
  void end(trace::Recorder& recorder);
  // The stream is not traced.
  void forget() { *this = {}; }

 private:
  bool has_looked_ = false;
  trace::Span wait_{};  // ends at the last look; empty: the trainer did not wait then
};

}  // namespace echoline::engine
