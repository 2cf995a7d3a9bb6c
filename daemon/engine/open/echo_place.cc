#include "engine/open/echo_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "config/echo_places.h"

namespace echoline::engine {
namespace {

// The step of the pipeline that a cost such as "decode image" belongs to: the last one with its
// name, since the echo should be behind all of it. Copies and other work on finished rows belong to
// `batch`.
std::size_t step_of(const std::vector<std::string>& names, const std::string& cost) {
  const std::string name = cost.substr(0, cost.find(' '));
  const auto found = std::find(names.rbegin(), names.rend(), name);
  const auto batch = std::find(names.rbegin(), names.rend(), "batch");
  return static_cast<std::size_t>(names.rend() - (found == names.rend() ? batch : found)) - 1;
}

}  // namespace

RecordTimes record_times(const v1::Stream& stream, double fetch_seconds,
                         const std::map<std::string, StepAccount::Cost>& costs,
                         std::size_t workers) {
  const std::vector<std::string> names = config::step_names(stream);
  RecordTimes times{.fetch = fetch_seconds, .steps = std::vector<double>(names.size())};
  for (const auto& [step, cost] : costs) {
    // To keep samples and to copy finished rows is work of an echo at one place only.
    if (cost.rows == 0 || step == "keep" || step == "reuse") continue;
    times.steps[step_of(names, step)] += 1e-9 * static_cast<double>(cost.ns) /
                                         static_cast<double>(cost.rows) /
                                         static_cast<double>(std::max<std::size_t>(1, workers));
  }
  return times;
}

std::vector<PlaceRatio> place_ratios(const v1::Stream& stream, const RecordTimes& times) {
  std::vector<PlaceRatio> ratios;
  for (const int place : config::echo_places(stream)) {
    const auto at = times.steps.begin() + place;
    const double before = std::accumulate(times.steps.begin(), at, 0.0);
    const double after = std::accumulate(at, times.steps.end(), 0.0);
    // A row can cost nothing after the echo: users' code may write it to the batch itself.
    ratios.push_back({place, std::max(times.fetch, before) / std::max(after, 1e-9)});
  }
  return ratios;
}

std::vector<PlaceRatio> wanted_places(std::vector<PlaceRatio> ratios, double uses) {
  const auto enough = std::find_if(ratios.begin(), ratios.end(),
                                   [uses](const PlaceRatio& one) { return one.ratio >= uses; });
  // Those from the wanted one on stay in their order: each of them is behind the slow step.
  std::rotate(ratios.begin(), enough, ratios.end());
  const auto behind = ratios.end() - enough;
  std::stable_sort(ratios.begin() + behind, ratios.end(),
                   [](const PlaceRatio& a, const PlaceRatio& b) { return a.ratio > b.ratio; });
  return ratios;
}

std::string slowest_text(const v1::Stream& stream, const RecordTimes& times) {
  const auto slowest = std::max_element(times.steps.begin(), times.steps.end());
  const double prepared = std::accumulate(times.steps.begin(), times.steps.end(), 0.0);
  if (times.fetch >= prepared)
    return fmt::format("fetching ({:.3g} ms a record)", 1e3 * times.fetch);
  const auto step = static_cast<std::size_t>(slowest - times.steps.begin());
  return fmt::format("'{}' ({:.3g} of {:.3g} ms that all steps take for a record)",
                     config::step_names(stream)[step], 1e3 * *slowest, 1e3 * prepared);
}

}  // namespace echoline::engine
