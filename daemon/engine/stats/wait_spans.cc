#include "engine/stats/wait_spans.h"

#include <algorithm>

namespace echoline::engine {
namespace {

// A wait that begins so soon after another one continues it: trainers look for signals in between.
constexpr std::uint64_t kGapNs = 1'000'000;

}  // namespace

void WaitSpans::see(trace::Recorder& recorder, std::uint32_t track, const Look& look) {
  // What was waited before the trace is not a part of it.
  if (!has_looked_) {
    has_looked_ = true;
    return;
  }
  if (look.more_ns == 0) return end(recorder);
  const bool waits = look.view.waiting_since_ns != 0;
  const bool continues = wait_.end_ns != 0;
  // One that has ended since the last look ended some time after it; one that lasts ends now.
  std::uint64_t begin_ns = look.now_ns - look.more_ns;
  if (continues && !waits) begin_ns = wait_.end_ns;
  begin_ns = std::max(begin_ns, wait_.end_ns);
  const char* const cause = kWaitCauseNames.at(static_cast<std::size_t>(look.cause));
  const bool same = continues && wait_.cause == cause && wait_.place == look.place &&
                    begin_ns - wait_.end_ns < kGapNs;
  if (!same) {
    end(recorder);
    wait_ = {.kind = trace::Kind::kTrainerWait,
             .group = trace::Group::kTrainers,
             .track = track,
             .begin_ns = begin_ns,
             .end_ns = begin_ns,
             .cause = cause,
             .place = look.place,
             .values = {look.view.next.epoch, look.view.next.row}};
  }
  wait_.end_ns = begin_ns + look.more_ns;
  if (!waits) end(recorder);
}

void WaitSpans::end(trace::Recorder& recorder) {
  if (wait_.end_ns != 0) recorder.add(wait_);
  wait_ = {};
}

}  // namespace echoline::engine
