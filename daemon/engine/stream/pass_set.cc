#include "engine/stream/pass_set.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace echoline::engine {
namespace {

// A trainer that was killed and restarted comes back within this time.
constexpr std::uint64_t kIdleNs = 2'000'000'000;

}  // namespace

std::vector<std::shared_ptr<Pass>> PassSet::passes() const {
  std::vector<std::shared_ptr<Pass>> passes;
  std::transform(members_.begin(), members_.end(), std::back_inserter(passes),
                 [](const Member& member) { return member.pass; });
  return passes;
}

void PassSet::add(std::shared_ptr<Pass> pass, std::uint64_t now_ns) {
  members_.push_back({.pass = std::move(pass), .idle_since_ns = now_ns});
}

PassSet::Member* PassSet::find(const Pass& pass) {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [&](const Member& member) { return member.pass.get() == &pass; });
  return found == members_.end() ? nullptr : &*found;
}

bool PassSet::any_held() const {
  return std::ranges::any_of(
      members_, [](const Member& member) { return member.pass->join_table().is_held(); });
}

bool PassSet::has(const Pass& pass) const {
  return std::any_of(members_.begin(), members_.end(),
                     [&](const Member& member) { return member.pass.get() == &pass; });
}

void PassSet::set_split_off(const Pass& pass) {
  if (Member* member = find(pass)) member->split_off = true;
}

void PassSet::set_ended(const Pass& pass) {
  if (Member* member = find(pass)) member->ended = true;
}

Result<std::optional<JoinedPass>> PassSet::join(const Wanted& wanted) {
  for (const Member& member : members_) {
    Pass& pass = *member.pass;
    // A stopped pass publishes nothing more; take_surplus takes it out later.
    if (member.ended || pass.stopping()) continue;
    // A pass that was split off is for the jobs in it: others would wait for their slow job again.
    if (member.split_off && !wanted.also_split_off && !wanted.has_own_job(pass)) continue;
    // A trainer with a state needs a pass whose changes agree with the state.
    const bool strict = wanted.only_same_history && !wanted.has_own_job(pass);
    if (wanted.history != nullptr &&
        !pass.history().follows(wanted.position, *wanted.history, strict)) {
      continue;
    }
    ECHOLINE_ASSIGN(const std::optional<ring::Ring::Reader> reader,
                    pass.join(wanted.position, wanted.tails, wanted.lanes));
    // No place here, though the pass may have the position: another pass may have it, too.
    if (reader.has_value()) return std::optional(JoinedPass{member.pass, *reader});
  }
  return std::optional<JoinedPass>();
}

const Pass* PassSet::foremost(const std::function<bool(const Pass&)>& counts) const {
  const Pass* foremost = nullptr;
  for (const Member& member : members_) {
    // A pass without readers can be far ahead of every trainer; `counts` leaves it out.
    if (!counts(*member.pass)) continue;
    if (foremost == nullptr || foremost->next_position() < member.pass->next_position()) {
      foremost = member.pass.get();
    }
  }
  return foremost;
}

std::vector<std::shared_ptr<Pass>> PassSet::take_if(
    const std::function<bool(const Member&)>& taken) {
  std::vector<std::shared_ptr<Pass>> passes;
  // Taken out under the lock; the caller stops them without it.
  std::erase_if(members_, [&](const Member& member) {
    if (!taken(member)) return false;
    passes.push_back(member.pass);
    return true;
  });
  return passes;
}

std::vector<std::shared_ptr<Pass>> PassSet::take_idle(const IsIdle& is_idle) {
  return take_if([&](const Member& member) { return is_idle(*member.pass); });
}

std::shared_ptr<Pass> PassSet::take_one_idle(const IsIdle& is_idle) {
  // The first one only: reclaiming frees no more than is needed.
  bool found = false;
  const auto taken =
      take_if([&](const Member& member) { return !found && (found = is_idle(*member.pass)); });
  return taken.empty() ? nullptr : taken.front();
}

std::vector<std::shared_ptr<Pass>> PassSet::take_surplus(const IsIdle& is_idle,
                                                         std::uint64_t now_ns) {
  // One idle pass stays for the next trainer: the one that was read last, which is most likely near
  // the position that it wants.
  const Pass* warm = nullptr;
  std::uint64_t warm_since_ns = 0;
  for (Member& member : members_) {
    if (!is_idle(*member.pass)) {
      // The clock of its idle time starts when the last reader has left.
      member.idle_since_ns = now_ns;
    } else if (!member.split_off && !member.ended &&
               (warm == nullptr || member.idle_since_ns > warm_since_ns)) {
      warm = member.pass.get();
      warm_since_ns = member.idle_since_ns;
    }
  }
  return take_if([&](const Member& member) {
    if (member.pass.get() == warm || !is_idle(*member.pass)) return false;
    // An idle pass that was split off or ended is of no use to anybody else.
    return member.split_off || member.ended || now_ns >= member.idle_since_ns + kIdleNs;
  });
}

}  // namespace echoline::engine
