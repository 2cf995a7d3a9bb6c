// Writes a trace as JSON in Chrome's trace event format, which ui.perfetto.dev opens.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <string>

#include "base/status.h"
#include "echoline/v1/control.pb.h"

namespace echoline::cli {

// One thread. The file is written while the trace lasts, so that none of it is kept in memory.
class TraceFile {
 public:
  // Replaces an existing file.
  static Result<TraceFile> create(const std::string& path);

  void add(const v1::WatchTraceResponse& part);
  // Ends the JSON document. `stream` is named in it.
  Status finish(const std::string& stream);

  std::uint64_t spans() const { return spans_; }
  std::uint64_t dropped() const { return dropped_; }
  double seconds() const { return static_cast<double>(end_ns_ - begin_ns_) * 1e-9; }

 private:
  TraceFile(std::string path, std::ofstream file)
      : path_(std::move(path)), file_(std::move(file)) {}
  void add_track(const v1::TraceTrack& track);
  void add_span(const v1::TraceSpan& span);
  void add_event(const std::string& json);

  std::string path_;
  std::ofstream file_;
  bool is_first_ = true;
  std::map<std::uint32_t, std::uint32_t> groups_;  // by track: its group
  std::uint64_t spans_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t begin_ns_ = 0;
  std::uint64_t end_ns_ = 0;
};

}  // namespace echoline::cli
