#include "engine/remote/run_gatherer.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace echoline::engine {

void RunGatherer::add(const StatePtr& state, const ServerPtr& server, std::uint64_t now_ns) {
  // Earlier, if it comes back from another server.
  if (state->held_since_ns == 0) state->held_since_ns = now_ns;
  Held next{server, state};
  for (const RemoteRun& run : state->runs) {
    next.bytes += run.bytes;
    next.records += run.records.size();
  }
  const auto held = std::ranges::find(held_, server, &Held::server);
  if (held == held_.end()) {
    held_.push_back(std::move(next));
  } else if (held->bytes + next.bytes <= kAnswerBytes &&
             held->records + next.records <= kRequestRecords) {
    held->bytes += next.bytes;
    held->records += next.records;
    std::ranges::move(state->runs, std::back_inserter(held->state->runs));
    held->state->held_since_ns = std::min(held->state->held_since_ns, state->held_since_ns);
  } else {
    const Held full = std::exchange(*held, std::move(next));
    send_(full.state, full.server);
  }
}

std::vector<RunGatherer::StatePtr> RunGatherer::send_due(std::uint64_t now_ns) {
  std::vector<StatePtr> left;
  std::erase_if(held_, [&](const Held& held) {
    const bool takes = held.server->is_good() && !held.server->is_busy(now_ns) &&
                       held.server->in_flight < concurrency_;
    if (!takes) {
      left.push_back(held.state);
      return true;
    }
    if (!is_due(held, now_ns)) return false;
    send_(held.state, held.server);
    return true;
  });
  return left;
}

bool RunGatherer::is_due(const Held& held, std::uint64_t now_ns) {
  return held.server->in_flight < kAtWork || held.bytes >= kWorthBytes ||
         now_ns - held.state->held_since_ns >= kPatienceNs;
}

std::vector<RemoteResult> results_of(RunState& state, std::vector<std::shared_ptr<Buffer>> frames,
                                     std::vector<RemoteRun>& without) {
  std::vector<RemoteResult> results;
  auto next = std::make_move_iterator(frames.begin());
  const auto end = std::make_move_iterator(frames.end());
  for (RemoteRun& run : state.runs) {
    const auto count = std::min(std::ssize(run.records), end - next);
    if (count == 0) {
      without.push_back(std::move(run));
      continue;
    }
    results.push_back({.tag = run.tag, .status = {}, .frames = {next, next + count}});
    next += count;
  }
  return results;
}

}  // namespace echoline::engine
