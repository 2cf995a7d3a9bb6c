#include "serve/control/trace_call.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "base/utf8.h"

namespace echoline::serve {
namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t kTraceMs = 5000;
constexpr std::uint32_t kTraceMsMin = 100;
constexpr std::uint32_t kTraceMsMax = 60'000;
// Often enough that what a busy stream records in between has room.
constexpr milliseconds kTakeEvery{50};
// A caller that does not read blocks the sending; the recording ends then.
constexpr std::uint64_t kTakeRestNs = 10'000'000'000;
// About half a MiB.
constexpr std::size_t kSpansOfMessage = 2000;

void fill_track(const engine::TraceTrack& track, v1::TraceTrack& told) {
  told.set_number(track.number);
  told.set_group(track.group);
  told.set_group_name(track.group_name);
  told.set_name(to_utf8(track.name));
}

void fill_span(const engine::TraceSpan& span, v1::TraceSpan& told) {
  told.set_track(span.track);
  told.set_name(to_utf8(span.name));
  told.set_begin_ns(span.begin_ns);
  told.set_duration_ns(span.end_ns - std::min(span.begin_ns, span.end_ns));
  for (const engine::TraceValue& value : span.values) {
    v1::TraceValue& one = *told.add_values();
    one.set_name(value.name);
    if (value.text.empty()) {
      one.set_number(value.number);
    } else {
      one.set_text(to_utf8(value.text));
    }
  }
}

// False if the caller has left.
bool send(const engine::TracePart& part, std::uint64_t begin_ns, const TraceCaller& caller) {
  std::size_t sent = 0;
  // Also a part without spans: the caller learns that the trace goes on.
  do {
    v1::WatchTraceResponse message;
    if (sent == 0) {
      for (const engine::TraceTrack& track : part.tracks) {
        fill_track(track, *message.add_tracks());
      }
    }
    const std::size_t end = std::min(part.spans.size(), sent + kSpansOfMessage);
    for (; sent < end; ++sent) fill_span(part.spans[sent], *message.add_spans());
    message.set_begin_ns(begin_ns);
    message.set_end_ns(monotonic_ns());
    message.set_dropped(part.dropped);
    if (!caller.send(message)) return false;
  } while (sent < part.spans.size());
  return true;
}

}  // namespace

Status send_trace(engine::Engine& engine, Watchers& watchers, const v1::WatchTraceRequest& request,
                  const TraceCaller& caller) {
  const std::uint32_t duration_ms = request.duration_ms() == 0 ? kTraceMs : request.duration_ms();
  if (duration_ms < kTraceMsMin || duration_ms > kTraceMsMax) {
    return Status(Code::kInvalidArgument,
                  fmt::format("duration_ms: {} is out of range; allowed: {} to {}", duration_ms,
                              kTraceMsMin, kTraceMsMax));
  }
  const std::uint64_t duration_ns = std::uint64_t{duration_ms} * 1'000'000;
  // Before anything is recorded: a refused caller costs nothing.
  ECHOLINE_ASSIGN(const WatchLease lease, watchers.admit(caller.name));
  ECHOLINE_ASSIGN(const std::unique_ptr<engine::Trace> trace,
                  engine.trace(request.name(), duration_ns + kTakeRestNs));
  const std::uint64_t begin_ns = monotonic_ns();
  const std::uint64_t end_ns = begin_ns + duration_ns;
  while (monotonic_ns() < end_ns) {
    if (!watchers.pause(kTakeEvery, caller.has_left)) break;
    ECHOLINE_ASSIGN(const engine::TracePart part, trace->take());
    if (!send(part, begin_ns, caller)) break;
  }
  ECHOLINE_ASSIGN(const engine::TracePart part, trace->finish());
  send(part, begin_ns, caller);
  // A caller who has left gets no status; a daemon that stops sends what there is.
  return watchers.stopped() ? Status(Code::kUnavailable, "the daemon is going down") : Status();
}

}  // namespace echoline::serve
