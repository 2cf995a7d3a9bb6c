// What a pass adds to a trace: its batches, and the waits of its thread.
#pragma once

#include <cstdint>

#include "engine/api/stats.h"
#include "engine/open/stream_core.h"
#include "engine/pass/in_flight_batch.h"
#include "trace/recorder.h"

namespace echoline::engine {

// Called by the pass's thread, except add_unfinished (any thread).
class PassTrace {
 public:
  explicit PassTrace(const StreamCore& core)
      : recorder_(*core.recorder),
        number_(core.recorder->number_pass()),
        lanes_(core.ring_spec.descriptors_live) {}

  std::uint32_t number() const { return number_; }
  std::uint64_t now_ns() const { return recorder_.now_ns(); }

  // The thread sleeps while this lives.
  class Sleep {
   public:
    Sleep(const PassTrace& trace, WaitCause cause, std::uint64_t begin_ns)
        : trace_(trace), cause_(cause), begin_ns_(begin_ns) {}
    Sleep(const Sleep&) = delete;
    Sleep& operator=(const Sleep&) = delete;
    ~Sleep() {
      if (begin_ns_ != 0) trace_.add_wait(cause_, begin_ns_);
    }

   private:
    const PassTrace& trace_;
    const WaitCause cause_;
    const std::uint64_t begin_ns_;  // 0: nobody traces
  };
  // `cause` is called if somebody traces: what a reader would wait for.
  template <typename Cause>
  Sleep sleep(const Cause& cause) const {
    const std::uint64_t begin_ns = now_ns();
    return {*this, begin_ns == 0 ? WaitCause::kFetch : cause(), begin_ns};
  }

  // A batch was published just now. `first_record`: of its first row.
  void add_published(const InFlightBatch& batch, std::uint64_t first_record,
                     std::uint64_t publish_begin_ns) const;
  // A batch that is not published by now.
  void add_unfinished(const InFlightBatch& batch) const;

 private:
  void add_wait(WaitCause cause, std::uint64_t begin_ns) const;
  trace::Span span_of(const InFlightBatch& batch, std::uint64_t first_record,
                      std::uint64_t end_ns) const;

  trace::Recorder& recorder_;
  const std::uint32_t number_;
  // No more batches than these have a slot at a time, so batches of one lane never overlap.
  const std::uint64_t lanes_;
};

}  // namespace echoline::engine
