// Records the spans of one stream while somebody traces it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "trace/span.h"

namespace echoline::trace {

// Any thread may call any of it. Off, it costs one relaxed load and has no memory. On, it keeps at
// most kSpansMax spans until they are taken; what comes meanwhile is dropped and counted.
class Recorder {
 public:
  static constexpr std::size_t kSpansMax = 1 << 16;

  Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder();

  bool on() const { return on_.load(std::memory_order_relaxed); }
  // The time while it is on, else 0: for the begin of a span.
  std::uint64_t now_ns() const { return on() ? monotonic_ns() : 0; }
  // Some recorder of the process is on: for threads that work for all streams.
  static bool any_on() { return recorders_on().load(std::memory_order_relaxed) != 0; }

  // Begins a trace and returns its number, or 0 if another one is on. The trace ends with stop(),
  // or by itself at `until_ns` (monotonic_ns): its caller may be blocked.
  std::uint64_t start(std::uint64_t until_ns) ECHOLINE_EXCLUDES(mutex_);
  // Does nothing if the trace has ended.
  void stop(std::uint64_t trace) ECHOLINE_EXCLUDES(mutex_);

  // Does nothing while it is off.
  void add(const Span& span) { add(std::span(&span, 1)); }
  void add(std::span<const Span> spans) ECHOLINE_EXCLUDES(mutex_);
  // What a trainer's track is called.
  void name_trainer(std::uint32_t track, std::string name) ECHOLINE_EXCLUDES(mutex_);

  struct Taken {
    std::vector<Span> spans;                        // in the order of their ends, for each track
    std::map<std::uint32_t, std::string> trainers;  // names by track
    std::uint64_t dropped = 0;                      // since the last call
  };
  // Nothing if the trace has ended.
  Taken take(std::uint64_t trace) ECHOLINE_EXCLUDES(mutex_);

  // A number for each pass of the stream.
  std::uint32_t number_pass() { return passes_.fetch_add(1, std::memory_order_relaxed); }

 private:
  static std::atomic<int>& recorders_on();
  bool is_on(std::uint64_t trace) const ECHOLINE_REQUIRES(mutex_) {
    return on() && trace == trace_;
  }
  void end() ECHOLINE_REQUIRES(mutex_);

  std::atomic<bool> on_{false};
  std::atomic<std::uint32_t> passes_{0};
  Mutex mutex_;                                          // no other lock is taken under it
  std::uint64_t trace_ ECHOLINE_GUARDED_BY(mutex_) = 0;  // the number of the last one
  std::uint64_t until_ns_ ECHOLINE_GUARDED_BY(mutex_) = 0;
  std::vector<Span> spans_ ECHOLINE_GUARDED_BY(mutex_);
  std::map<std::uint32_t, std::string> trainers_ ECHOLINE_GUARDED_BY(mutex_);
  std::uint64_t dropped_ ECHOLINE_GUARDED_BY(mutex_) = 0;
};

// Since when the calling thread has had nothing to do, for the stream whose work ends that; 0:
// unknown.
std::uint64_t& idle_since_ns();

}  // namespace echoline::trace
