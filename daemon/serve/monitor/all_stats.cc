#include "serve/monitor/all_stats.h"

#include <algorithm>
#include <string>

namespace echoline::serve {

// An operator should see that a kept stream is missing, also in lists and metrics.
engine::EngineStats all_stats(const engine::Engine& engine, const KeptStreams& kept) {
  engine::EngineStats stats = engine.stats();
  const auto has = [&stats](const std::string& name) {
    return std::any_of(stats.streams.begin(), stats.streams.end(),
                       [&](const engine::StreamStats& stream) { return stream.name == name; });
  };
  for (const auto& [name, why] : kept.failures()) {
    // Created again since, by an operator.
    if (has(name)) continue;
    engine::StreamStats& stream = stats.streams.emplace_back();
    stream.name = name;
    stream.state = "failed";
    stream.error = why;
    stream.verdict = {"failed",
                      "this kept stream could not be created, and is tried again at the "
                      "next start: " +
                          why};
  }
  return stats;
}

}  // namespace echoline::serve
