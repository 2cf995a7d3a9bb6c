#include "config/echo_places.h"

#include <fmt/core.h>

#include <algorithm>

#include "config/pipeline.h"

namespace echoline::config {

bool leaves_echo_place(const v1::Stream& stream) { return stream.has_echo(); }

std::vector<int> echo_places(const v1::Stream& stream) {
  std::vector<int> places;
  for (int at = 1; at < stream.pipeline_size(); ++at) {
    const v1::Step& before = stream.pipeline(at - 1);
    // Orders and servers come before all uses.
    if (before.has_shuffle() || before.has_prepare()) places.clear();
    if (before.has_batch()) break;
    // A cache follows its step directly.
    const v1::Step& next = stream.pipeline(at);
    const bool fits = !next.has_cache() && !next.has_shuffle() && !next.has_prepare();
    if (fits) places.push_back(at);
  }
  return places;
}

int place_after_decode(const v1::Stream& stream) {
  const std::vector<int> places = echo_places(stream);
  for (const int place : places) {
    if (echo_place(with_echo_at(stream, place)) != EchoPlace::kRecord) return place;
  }
  return places.back();
}

v1::Stream with_echo_at(const v1::Stream& stream, int place) {
  v1::Stream placed = stream;
  placed.clear_echo();
  placed.clear_pipeline();
  for (int at = 0; at < stream.pipeline_size(); ++at) {
    if (at == place) *placed.add_pipeline()->mutable_echo() = stream.echo();
    *placed.add_pipeline() = stream.pipeline(at);
  }
  return placed;
}

std::vector<std::string> step_names(const v1::Stream& stream) {
  std::vector<std::string> names;
  for (const v1::Step& step : stream.pipeline()) names.emplace_back(step_name(step.step_case()));
  return names;
}

std::string place_text(const v1::Stream& stream, int place) {
  const std::vector<std::string> names = step_names(stream);
  const std::string& before = names[static_cast<std::size_t>(place) - 1];
  const bool once = std::count(names.begin(), names.end(), before) == 1;
  return fmt::format("after '{}'{}", before, once ? "" : fmt::format(" (step {})", place));
}

}  // namespace echoline::config
