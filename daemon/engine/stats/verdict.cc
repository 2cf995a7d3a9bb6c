// A sentence is made of what was seen and of one remedy: the first that applies.
#include "engine/stats/verdict.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "base/pluralize.h"

namespace echoline::engine {
namespace {

// Two factors nearer than this are the same for advice: R is a measurement.
constexpr double kFactorSlack = 1.1;
// Beyond it a repeat is worth less and less (docs/echoing.md): R alone is no reason for more.
constexpr double kFactorToStart = 5;

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

double factor_of(const StreamStats& stats) { return stats.factor / 1000.0; }

double wait_share(const RecentStats& recent, std::uint64_t wait_ns) {
  if (recent.attached_ns == 0) return 0;
  return std::min(1.0, static_cast<double>(wait_ns) / static_cast<double>(recent.attached_ns));
}

bool echoes(const StreamStats& stats) { return stats.factor > 1000; }

// Advice about the factor where what stands above the echo point is the limit; empty where a larger
// one would not help or R is unknown.
std::string larger_factor(const StreamStats& stats) {
  const double ratio = stats.upstream_downstream_ratio;
  if (ratio < kFactorSlack * std::max(1.0, factor_of(stats))) return "";
  const std::string now = echoes(stats) ? fmt::format("; it is {:.3g}", factor_of(stats)) : "";
  if (ratio > kFactorToStart) {
    return fmt::format("R is {:.1f}: echo factors up to it cost no time, 4 is a good start{}",
                       ratio, now);
  }
  return fmt::format("R is {0:.1f}: an echo factor up to {0:.1f} costs no time{1}", ratio, now);
}

// What a store's requests waited for most, if that was something that the store did.
std::string store_trouble(const RecentStats& recent) {
  using source::WaitReason;
  const auto waited = [&recent](WaitReason reason) {
    return recent.source_wait_ns[static_cast<std::size_t>(reason)];
  };
  struct Trouble {
    WaitReason reason;
    const char* text;
  };
  constexpr Trouble kTroubles[] = {
      {WaitReason::kUnreachable,
       "it cannot be reached: see the log, the network and read.endpoint"},
      {WaitReason::kStalled, "its answers stall: see the network and read.stall"},
      {WaitReason::kBroken, "its answers break off: see the log and the network"},
      {WaitReason::kThrottled,
       "it asks for fewer requests: raise its limit, or keep records with a cache step"},
      {WaitReason::kCredentials, "credentials are slow to come: see the log and read.credentials"}};
  const auto* worst = std::max_element(std::begin(kTroubles), std::end(kTroubles),
                                       [&waited](const Trouble& a, const Trouble& b) {
                                         return waited(a.reason) < waited(b.reason);
                                       });
  // One request that waited all the time is trouble; a pause now and then is not.
  return waited(worst->reason) * 2 < recent.passed_ns ? "" : worst->text;
}

std::string storage_remedy(const StreamStats& stats) {
  const std::string trouble = store_trouble(stats.recent);
  if (!trouble.empty()) return trouble;
  const std::string factor = larger_factor(stats);
  if (!factor.empty()) return factor;
  return stats.caches.empty() ? "a cache step after read keeps records for the next epoch"
                              : "a larger cache or a faster store helps";
}

std::string workers_remedy(const StreamStats& stats) {
  if (stats.echo_point == "record")
    return "echo before decode shares no decoding: put it after decode, or raise daemon.workers";
  const std::string factor = larger_factor(stats);
  if (!factor.empty()) return factor;
  return "raise daemon.workers, or keep decoded samples with a cache step after decode";
}

std::string peer_remedy(const StreamStats& stats) {
  const auto last = std::max_element(
      stats.consumers.begin(), stats.consumers.end(),
      [](const ConsumerStats& a, const ConsumerStats& b) { return a.lag_rows < b.lag_rows; });
  const std::string who = last == stats.consumers.end() || last->lag_rows == 0
                              ? ""
                              : fmt::format("job {} rank {} is behind by {}; ", last->job,
                                            last->rank, pluralize(last->lag_rows, "row"));
  return who + "with publish.when_slow: split it gets a pass of its own";
}

std::string trainers_advice(const StreamStats& stats) {
  const double ratio = stats.upstream_downstream_ratio;
  if (!echoes(stats) || ratio == 0 || factor_of(stats) < kFactorSlack * std::max(1.0, ratio))
    return "";
  if (ratio < kFactorSlack)
    return fmt::format("; R is {:.1f}: without echo they would not wait either", ratio);
  return fmt::format(
      "; R is {0:.1f}: an echo factor of {0:.1f} instead of {1:.3g} brings more fresh data", ratio,
      factor_of(stats));
}

Verdict of_cause(const StreamStats& stats, WaitCause cause, double share) {
  const auto sentence = [share](std::string_view what, const std::string& remedy) {
    return fmt::format("{}, trainers wait for it {} of their time; {}", what, percent(share),
                       remedy);
  };
  switch (cause) {
    case WaitCause::kFetch:
      return {"storage", sentence("storage is the limit", storage_remedy(stats))};
    case WaitCause::kPrep:
      return {"workers", sentence("preparing on the workers is the limit", workers_remedy(stats))};
    case WaitCause::kPublish:
      return {"publishing",
              sentence("publishing is the limit", "larger batches, or more publish.slots, help")};
    case WaitCause::kPeer:
      return {"jobs", sentence("a slower job or rank is the limit", peer_remedy(stats))};
    case WaitCause::kDaemon:
      break;
  }
  return {"daemon", sentence("the daemon was away", "its log says why")};
}

}  // namespace

Verdict verdict(const StreamStats& stats) {
  if (stats.state == "failed") return {"failed", "the stream has failed: " + stats.error};
  if (stats.state == "opening")
    return {"opening", "the index is being read or made; trainers can attach after that"};
  if (stats.state != "ready") return {stats.state, "the stream is " + stats.state};
  if (stats.consumers.empty())
    return {"nobody", "no trainer is attached; the first batches wait in the ring"};
  const RecentStats& recent = stats.recent;
  if (recent.attached_ns < kLeastAttachedNs)
    return {"unknown", "too early to say: trainers have been watched for less than two seconds"};
  const std::uint64_t waited_ns =
      std::accumulate(recent.wait_ns.begin(), recent.wait_ns.end(), std::uint64_t{0});
  const double share = wait_share(recent, waited_ns);
  if (share < kWaitsShare) {
    return {"trainers", fmt::format("the trainers are the limit, they wait {} of their time{}",
                                    percent(share), trainers_advice(stats))};
  }
  const auto* worst = std::max_element(recent.wait_ns.begin(), recent.wait_ns.end());
  return of_cause(stats, static_cast<WaitCause>(worst - recent.wait_ns.begin()),
                  wait_share(recent, *worst));
}

}  // namespace echoline::engine
