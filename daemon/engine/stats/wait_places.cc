#include "engine/stats/wait_places.h"

namespace echoline::engine {
namespace {

// Shards can have as many hosts as they like.
constexpr std::size_t kStoresMax = 32;

}  // namespace

void WaitPlaces::add_store(const std::string& store, std::uint64_t ns) {
  if (!store.empty()) {
    const bool has_room = store_ns_.contains(store) || store_ns_.size() < kStoresMax;
    last_store_ = has_room ? store : "other";
  }
  store_ns_[last_store_] += ns;
}

void WaitPlaces::see_steps(std::uint64_t prep_waited_ns, const Steps& steps) {
  const auto more_ns = static_cast<double>(prep_waited_ns - prep_waited_ns_);
  std::map<std::string, double> spent;
  double all = 0;
  for (const auto& [step, cost] : steps) {
    all += spent[step] = static_cast<double>(cost.ns - steps_[step].ns);
  }
  if (more_ns > 0 && all == 0) return;
  for (const auto& [step, ns] : spent) {
    if (more_ns > 0) step_ns_[step] += static_cast<std::uint64_t>(more_ns * ns / all);
  }
  prep_waited_ns_ = prep_waited_ns;
  steps_ = steps;
}

void WaitPlaces::report(StreamStats& stats) const {
  stats.fetch_wait_ns = fetch_ns_;
  stats.endpoint_wait_ns = store_ns_;
  stats.step_wait_ns = step_ns_;
}

}  // namespace echoline::engine
