// What a stream does while it is traced, in plain words, for the control service.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace echoline::engine {

// A text or, if that is empty, a number.
struct TraceValue {
  const char* name = "";
  std::uint64_t number = 0;
  std::string text{};
};

struct TraceSpan {
  std::uint32_t track = 0;  // a TraceTrack of this or an earlier part
  std::string name;
  std::uint64_t begin_ns = 0;  // monotonic_ns()
  std::uint64_t end_ns = 0;
  std::vector<TraceValue> values;
};

// Spans of one track never overlap, except that one may be inside another.
struct TraceTrack {
  std::uint32_t number = 0;
  std::uint32_t group = 0;
  std::string group_name;
  std::string name;
};

struct TracePart {
  std::vector<TraceTrack> tracks;  // that no earlier part had
  std::vector<TraceSpan> spans;
  std::uint64_t dropped = 0;  // spans, since the begin of the trace
};

// One thread. Recording lasts from its creation to finish() or its end; spans that nobody takes in
// time are dropped, so take() is called a few times a second.
class Trace {
 public:
  virtual ~Trace() = default;
  // What has ended since the last call. kNotFound: the stream was deleted.
  virtual Result<TracePart> take() = 0;
  // The same, with the waits and the reads that have not ended.
  virtual Result<TracePart> finish() = 0;
};

}  // namespace echoline::engine
