// One trace of one stream: takes what was recorded, and says in words what it is.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "engine/api/trace.h"
#include "engine/stream/stream_driver.h"
#include "trace/lanes.h"
#include "trace/recorder.h"

namespace echoline::engine {

// One thread. Does not keep the stream: a stream that is deleted meanwhile ends the trace.
class TraceSession : public Trace {
 public:
  // kFailedPrecondition: the stream is traced already.
  static Result<std::unique_ptr<Trace>> begin(SharedStreams& shared, const std::string& name,
                                              std::uint64_t longest_ns);
  ~TraceSession() override { recorder_->stop(number_); }

  Result<TracePart> take() override;
  Result<TracePart> finish() override;

 private:
  // In one trace; beyond them, spans are dropped.
  static constexpr std::uint64_t kSpansMax = 4'000'000;

  TraceSession(SharedStreams& shared, std::string name, std::uint64_t generation,
               const std::shared_ptr<StreamCore>& core, std::uint64_t number)
      : shared_(shared),
        name_(std::move(name)),
        generation_(generation),
        recorder_(core->recorder),
        number_(number) {}
  // Null: the stream was deleted. Its texts are there as long as the core.
  std::shared_ptr<StreamCore> present_core() const;
  // Waits, reads, and the batches that trainers wait for.
  void add_unfinished();
  TraceSpan described(const StreamCore& core, const trace::Span& span, TracePart& part);
  // The number of the span's track, which is added to the part if it is new.
  std::uint32_t track_of(const trace::Span& span, TracePart& part);

  SharedStreams& shared_;
  const std::string name_;
  const std::uint64_t generation_;
  const std::shared_ptr<trace::Recorder> recorder_;
  const std::uint64_t number_;  // of the recorder's trace
  trace::Lanes reads_;
  std::map<std::pair<trace::Group, std::uint32_t>, std::uint32_t> tracks_;
  std::map<std::uint32_t, std::string> trainers_;  // names by track
  std::uint64_t spans_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace echoline::engine
