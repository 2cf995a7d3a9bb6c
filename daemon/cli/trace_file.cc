#include "cli/trace_file.h"

#include <fmt/core.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "serve/monitor/version.h"

namespace echoline::cli {
namespace {

using Json = nlohmann::ordered_json;

// Names can have any bytes.
std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A viewer shows a group of tracks as a process. 0 would be an unknown one.
std::uint32_t process_of(std::uint32_t group) { return group + 1; }

// Microseconds with the nanoseconds behind the point; a double cannot hold all of them.
std::string microseconds(std::uint64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

std::string arguments_of(const v1::TraceSpan& span) {
  Json arguments = Json::object();
  for (const v1::TraceValue& value : span.values()) {
    if (value.has_text()) {
      arguments[value.name()] = value.text();
    } else {
      arguments[value.name()] = value.number();
    }
  }
  return text_of(arguments);
}

}  // namespace

Result<TraceFile> TraceFile::create(const std::string& path) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) return errno_status(errno, path);
  file << "{\"traceEvents\":[\n";
  return TraceFile(path, std::move(file));
}

void TraceFile::add(const v1::WatchTraceResponse& part) {
  for (const v1::TraceTrack& track : part.tracks()) add_track(track);
  for (const v1::TraceSpan& span : part.spans()) add_span(span);
  dropped_ = part.dropped();
  begin_ns_ = part.begin_ns();
  end_ns_ = part.end_ns();
}

void TraceFile::add_track(const v1::TraceTrack& track) {
  groups_[track.number()] = track.group();
  const std::uint32_t process = process_of(track.group());
  const auto add = [&](const char* what, const char* key, const Json& value) {
    add_event(text_of({{"ph", "M"},
                       {"name", what},
                       {"pid", process},
                       {"tid", track.number()},
                       {"args", {{key, value}}}}));
  };
  add("process_name", "name", track.group_name());
  add("process_sort_index", "sort_index", process);
  add("thread_name", "name", track.name());
}

void TraceFile::add_span(const v1::TraceSpan& span) {
  const std::uint32_t group = groups_[span.track()];
  add_event(fmt::format(
      R"({{"ph":"X","name":{},"cat":"echoline","pid":{},"tid":{},"ts":{},"dur":{},"args":{}}})",
      text_of(span.name()), process_of(group), span.track(), microseconds(span.begin_ns()),
      microseconds(span.duration_ns()), arguments_of(span)));
  ++spans_;
}

void TraceFile::add_event(const std::string& json) {
  if (!std::exchange(is_first_, false)) file_ << ",\n";
  file_ << json;
}

Status TraceFile::finish(const std::string& stream) {
  const Json about = {{"stream", stream},      {"echoline", serve::kVersion},
                      {"begin_ns", begin_ns_}, {"end_ns", end_ns_},
                      {"spans", spans_},       {"dropped", dropped_}};
  file_ << "\n],\n\"displayTimeUnit\":\"ms\",\n\"otherData\":" << text_of(about) << "}\n";
  file_.close();
  return file_ ? Status() : errno_status(errno == 0 ? EIO : errno, path_);
}

}  // namespace echoline::cli
