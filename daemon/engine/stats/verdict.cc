// Each verdict is a sentence with one observation and one remedy: the first that applies and is not
// done already.
#include "engine/stats/verdict.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "base/pluralize.h"
#include "config/echo_advice.h"

namespace echoline::engine {
namespace {

// Factors that differ by less than this ratio count as equal: R is a measurement.
constexpr double kFactorSlack = 1.1;
// Above this R, the advice is config::kAdvisedFactor, because each further repeat of a sample is
// worth less.
constexpr double kLargeRatio = 5;

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

double factor_of(const StreamStats& stats) { return stats.factor / 1000.0; }

double wait_share(const RecentStats& recent, std::uint64_t wait_ns) {
  if (recent.attached_ns == 0) return 0;
  return std::min(1.0, static_cast<double>(wait_ns) / static_cast<double>(recent.attached_ns));
}

bool echoes(const StreamStats& stats) { return stats.factor > 1000; }

// Advice for a larger factor, when the part before the echo point is the limit. Empty if a larger
// one would not help, if the factor is the advised one already, or if R is unknown.
std::string larger_factor(const StreamStats& stats) {
  const double ratio = stats.upstream_downstream_ratio;
  if (ratio < kFactorSlack * std::max(1.0, factor_of(stats))) return "";
  // The factor follows R by itself, so that it is on its way, or at its limit.
  if (stats.auto_factor) return fmt::format("R is {:.1f}: a larger echo.max may help", ratio);
  const std::string now = echoes(stats) ? fmt::format("; it is {:.3g}", factor_of(stats)) : "";
  if (ratio > kLargeRatio) {
    // The present factor is about the advised one already.
    if (factor_of(stats) * kFactorSlack > config::kAdvisedFactor) return "";
    return fmt::format("R is {:.1f}: echo factors up to it cost no time, {} is a good start{}",
                       ratio, config::kAdvisedFactor, now);
  }
  return fmt::format("R is {0:.1f}: an echo factor up to {0:.1f} costs no time{1}", ratio, now);
}

// The store's fault that requests waited for most; empty if they hardly waited for any. A remedy
// for it comes before all others. The configured throttle (kImitated) is no fault.
std::string store_trouble(const StreamStats& stats) {
  using source::WaitReason;
  const auto waited = [&stats](WaitReason reason) {
    return stats.recent.source_wait_ns[static_cast<std::size_t>(reason)];
  };
  struct Trouble {
    WaitReason reason;
    const char* text;
  };
  const Trouble troubles[] = {
      {WaitReason::kUnreachable,
       "it cannot be reached: see the log, the network and read.endpoint"},
      {WaitReason::kStalled, "its answers stall: see the network and read.stall"},
      {WaitReason::kBroken, "its answers break off: see the log and the network"},
      {WaitReason::kThrottled,
       stats.caches.empty()
           ? "it asks for fewer requests: raise its limit, or keep records with a cache step"
           : "it asks for fewer requests: raise its limit, or use a larger cache"},
      {WaitReason::kCredentials,
       "credentials are slow to come, or refused: see the log and read.credentials"}};
  const auto* worst = std::max_element(std::begin(troubles), std::end(troubles),
                                       [&waited](const Trouble& a, const Trouble& b) {
                                         return waited(a.reason) < waited(b.reason);
                                       });
  // The sum over requests: one request that waited half of the time is enough, short pauses are
  // not.
  return waited(worst->reason) * 2 < stats.recent.passed_ns ? "" : worst->text;
}

// The first that applies: a fault of the store, a larger echo factor, a cache.
std::string storage_remedy(const StreamStats& stats) {
  const std::string trouble = store_trouble(stats);
  if (!trouble.empty()) return trouble;
  const std::string factor = larger_factor(stats);
  if (!factor.empty()) return factor;
  return stats.caches.empty() ? "a cache step after read keeps records for the next epoch"
                              : "a larger cache or a faster store helps";
}

std::string servers_remedy(const StreamStats& stats) {
  if (stats.remote->reachable == 0) {
    return "none can be reached: see the log, the network and prepare.servers";
  }
  const std::string factor = larger_factor(stats);
  return factor.empty() ? "add servers, or give them more daemon.workers" : factor;
}

std::string workers_remedy(const StreamStats& stats) {
  // Under record echo a larger factor repeats the decoding and relieves only the store.
  if (stats.echo_point == "record")
    return "echo before decode shares no decoding: put it after decode, or raise daemon.workers if "
           "cores are idle";
  const std::string factor = larger_factor(stats);
  if (!factor.empty()) return factor;
  return "raise daemon.workers if cores are idle, or keep decoded samples with a cache step after "
         "decode";
}

std::string peer_remedy(const StreamStats& stats) {
  const auto last = std::max_element(
      stats.consumers.begin(), stats.consumers.end(),
      [](const ConsumerStats& a, const ConsumerStats& b) { return a.lag_rows < b.lag_rows; });
  const std::string who = last == stats.consumers.end() || last->lag_rows == 0
                              ? ""
                              : fmt::format("job {} rank {} is behind by {}; ", last->job,
                                            last->rank, pluralize(last->lag_rows, "row"));
  // The outcomes show that publish.when_slow is set already.
  if (stats.slow.refused > 0)
    return who + "there was no memory to give it a pass of its own: raise daemon.memory";
  if (stats.slow.split + stats.slow.detached > 0)
    return who + "with a smaller publish.lag publish.when_slow acts earlier";
  return who + "with publish.when_slow: split it gets a pass of its own";
}

std::string trainers_advice(const StreamStats& stats) {
  const double ratio = stats.upstream_downstream_ratio;
  if (stats.auto_factor || !echoes(stats) || ratio == 0 ||
      factor_of(stats) < kFactorSlack * std::max(1.0, ratio))
    return "";
  if (ratio < kFactorSlack)
    return fmt::format("; R is {:.1f}: without echo they would not wait either", ratio);
  return fmt::format(
      "; R is {0:.1f}: an echo factor of {0:.1f} instead of {1:.3g} brings more fresh data", ratio,
      factor_of(stats));
}

Verdict of_cause(const StreamStats& stats, WaitCause cause, double share) {
  const auto because = [&](std::string_view what, const std::string& remedy) {
    return Verdict{limit_of(cause), fmt::format("{}, trainers wait for it {} of their time; {}",
                                                what, percent(share), remedy)};
  };
  switch (cause) {
    case WaitCause::kFetch:
      if (stats.remote) {
        return because("the preparation servers are the limit", servers_remedy(stats));
      }
      return because("storage is the limit", storage_remedy(stats));
    case WaitCause::kPrep:
      return because("preparing on the workers is the limit", workers_remedy(stats));
    case WaitCause::kPublish:
      return because("publishing is the limit", "larger batches, or more publish.slots, help");
    case WaitCause::kPeer:
      return because("a slower job or rank is the limit", peer_remedy(stats));
    case WaitCause::kDaemon:
      break;
  }
  return because("the daemon was away", "its log says why");
}

std::string time_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string waiting_text(const IndexingStats& indexing) {
  if (indexing.trainers == 0) return "; trainers that attach wait for it";
  return fmt::format("; {} {} for it", pluralize(indexing.trainers, "trainer"),
                     indexing.trainers == 1 ? "waits" : "wait");
}

}  // namespace

std::string opening_text(const IndexingStats& indexing) {
  if (indexing.waits) return "waits until streams before it are open";
  if (!indexing.user_code.empty())
    return fmt::format("{}, for {}", indexing.user_code, time_text(indexing.user_code_seconds));
  if (indexing.shards == 0) return "the index is being read or made";
  std::string text = fmt::format("indexing: {} of {}, {:.1f} of {:.1f} GB", indexing.shards_done,
                                 pluralize(indexing.shards, "shard"),
                                 static_cast<double>(indexing.bytes_done) / 1e9,
                                 static_cast<double>(indexing.bytes) / 1e9);
  if (indexing.bytes_per_second > 0) {
    text += fmt::format(", {:.0f} MB/s, about {} left", indexing.bytes_per_second / 1e6,
                        time_text(indexing.seconds_left));
  }
  return text;
}

const char* limit_of(WaitCause cause) {
  switch (cause) {
    case WaitCause::kFetch:
      return "storage";
    case WaitCause::kPrep:
      return "workers";
    case WaitCause::kPublish:
      return "publishing";
    case WaitCause::kPeer:
      return "jobs";
    case WaitCause::kDaemon:
      break;
  }
  return "daemon";
}

Verdict verdict(const StreamStats& stats) {
  if (stats.state == "failed") return {"failed", "the stream has failed: " + stats.error};
  if (stats.state == "opening")
    return {"opening", opening_text(stats.indexing) + waiting_text(stats.indexing)};
  if (stats.state != "ready") return {stats.state, "the stream is " + stats.state};
  if (stats.served) return {"nobody", "its samples are prepared for other hosts (daemon.serve)"};
  if (stats.consumers.empty())
    return {"nobody", "no trainer is attached; the first batches wait in the ring"};
  const RecentStats& recent = stats.recent;
  // Shares of less than two seconds are noise.
  if (recent.attached_ns < kLeastAttachedNs)
    return {"unknown", "too early to say: trainers have been watched for less than two seconds"};
  const std::uint64_t waited_ns =
      std::accumulate(recent.wait_ns.begin(), recent.wait_ns.end(), std::uint64_t{0});
  const double share = wait_share(recent, waited_ns);
  // Data comes fast enough; the advice is then about an echo factor that is larger than necessary.
  if (share < kWaitsShare) {
    return {"trainers", fmt::format("the trainers are the limit, they wait {} of their time{}",
                                    percent(share), trainers_advice(stats))};
  }
  const auto* worst = std::max_element(recent.wait_ns.begin(), recent.wait_ns.end());
  return of_cause(stats, static_cast<WaitCause>(worst - recent.wait_ns.begin()),
                  wait_share(recent, *worst));
}

}  // namespace echoline::engine
