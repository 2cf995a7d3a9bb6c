// What a fetcher and its cache threads add to a trace.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "cache/fleet_cache.h"
#include "engine/fetch/fetch_meter.h"
#include "engine/fetch/reads_in_flight.h"
#include "engine/fetch/request_coalescer.h"
#include "trace/recorder.h"

namespace echoline::engine {

// Any thread. Spans end now, except where a time is given.
class FetchTrace {
 public:
  // `source`: which of the stream's sources it reads.
  FetchTrace(std::shared_ptr<trace::Recorder> recorder, std::uint32_t source)
      : recorder_(std::move(recorder)), source_(source) {}

  bool on() const { return recorder_->on(); }
  std::uint64_t now_ns() const { return recorder_->now_ns(); }

  // Of the fetcher's thread: it slept, with this work to be done by others.
  void add_wait(FetchWork work, std::uint64_t begin_ns, std::uint64_t end_ns) const;
  void add_look_up(trace::Kind kind, std::uint64_t record, bool hit, std::uint64_t begin_ns) const;
  // Of cache thread `thread`.
  void add_idle(std::uint32_t thread, std::uint64_t begin_ns) const;
  void add_disk_look_up(std::uint32_t thread, const FetchRequest& request, bool hit,
                        std::uint64_t begin_ns) const;
  void add_fleet_look_up(std::uint32_t thread, std::span<const cache::FleetQuery> queries,
                         std::uint64_t begin_ns) const;
  void add_read(const ReadInFlight& read, bool ok, std::uint64_t end_ns) const;

 private:
  const std::shared_ptr<trace::Recorder> recorder_;
  const std::uint32_t source_;
};

// A read that has ended, or has lasted until `end_ns` without an answer.
trace::Span span_of(const ReadInFlight& read, bool answered, bool ok, std::uint64_t end_ns);

}  // namespace echoline::engine
