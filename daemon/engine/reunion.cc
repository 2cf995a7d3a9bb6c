#include "engine/reunion.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace echoline::engine {
namespace {

// Trainers try to come back many times a second; other jobs are not waited for longer than this.
constexpr std::uint64_t kSettleNs = 300'000'000;

auto position(const Reunion::Returning& returning) {
  return std::pair(returning.request.epoch, returning.request.row);
}

}  // namespace

void Reunion::add(Returning returning, std::uint64_t now_ns) {
  last_came_ns_ = now_ns;
  waiting_.push_back(std::move(returning));
}

bool Reunion::forget(std::uint64_t connection) {
  return std::erase_if(waiting_, [&](const Returning& returning) {
           return returning.connection == connection;
         }) > 0;
}

bool Reunion::complete() const {
  std::map<std::tuple<std::string, std::uint32_t, std::uint32_t>, std::set<std::uint32_t>> ranks;
  for (const Returning& returning : waiting_) {
    const shm::AttachRequest& request = returning.request;
    ranks[{std::string(shm::text(request.job)), request.world_size, request.batch_size}].insert(
        request.rank);
  }
  return std::all_of(ranks.begin(), ranks.end(),
                     [](const auto& job) { return job.second.size() >= std::get<1>(job.first); });
}

std::vector<Reunion::Returning> Reunion::take_due(std::uint64_t now_ns) {
  if (waiting_.empty()) return {};
  const bool settled = now_ns >= last_came_ns_ + kSettleNs && complete();
  if (!settled && now_ns < until_ns_) return {};
  std::stable_sort(waiting_.begin(), waiting_.end(), [](const Returning& a, const Returning& b) {
    return position(a) < position(b);
  });
  return std::exchange(waiting_, {});
}

}  // namespace echoline::engine
