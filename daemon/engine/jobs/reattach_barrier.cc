#include "engine/jobs/reattach_barrier.h"

#include <algorithm>
#include <string>
#include <utility>

namespace echoline::engine {
namespace {

// Trainers retry to attach many times a second; one that the file does not name gets no more time.
constexpr std::uint64_t kSettleNs = 300'000'000;

auto position(const AttachCall& call) { return std::pair(call.request.epoch, call.request.row); }

}  // namespace

void ReattachBarrier::add(AttachCall call, std::uint64_t now_ns) {
  last_came_ns_ = now_ns;
  const shm::AttachRequest& request = call.request;
  const Job job{std::string(shm::text(request.job)), request.world_size, request.batch_size};
  const auto found = std::find_if(expected_.begin(), expected_.end(), [&](const Trainer& trainer) {
    // The file knows ranks, not connections: any process that comes as this rank is the expected
    // one.
    return trainer.rank == request.rank && trainer.job == job;
  });
  if (found != expected_.end()) expected_.erase(found);
  waiting_.push_back(std::move(call));
}

bool ReattachBarrier::withdraw(std::uint64_t connection) {
  return std::erase_if(waiting_,
                       [&](const AttachCall& call) { return call.connection == connection; }) > 0;
}

std::vector<AttachCall> ReattachBarrier::take_due(std::uint64_t now_ns) {
  // The time is over: late trainers attach on their own, without the barrier (collects).
  if (now_ns >= until_ns_) expected_.clear();
  if (waiting_.empty()) return {};
  std::erase_if(expected_, [](const Trainer& trainer) { return !trainer.is_alive(); });
  // Settled: all expected trainers came or died, and no unexpected one came for a moment.
  const bool settled = now_ns >= last_came_ns_ + kSettleNs && expected_.empty();
  if (!settled && now_ns < until_ns_) return {};
  // The first request starts the pass: at the smallest position, so that the others find theirs in
  // it or ahead of it.
  std::stable_sort(waiting_.begin(), waiting_.end(), [](const AttachCall& a, const AttachCall& b) {
    return position(a) < position(b);
  });
  return std::exchange(waiting_, {});
}

}  // namespace echoline::engine
