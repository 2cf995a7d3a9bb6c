// The passes of one stream.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/status.h"
#include "engine/pass/pass.h"
#include "engine/walk/lane_set.h"
#include "plan/position.h"
#include "ring/ring.h"

namespace echoline::engine {

// Where a trainer reads: its pass, and its reader on the ring of that pass.
struct JoinedPass {
  std::shared_ptr<Pass> pass;
  ring::Ring::Reader reader;
};

// Under the registry's lock. Starts and stops nothing: passes come from outside, and those that are
// taken out are the caller's to retire.
class PassSet {
 public:
  struct Member {
    std::shared_ptr<Pass> pass;
    // The jobs that it did not delay were moved to another pass: no other job joins it any more.
    bool split_off = false;
    bool ended = false;  // it publishes nothing more
    std::uint64_t idle_since_ns = 0;
  };

  const std::vector<Member>& members() const { return members_; }
  // Whether one of them plans nothing until the hosts of a job agree.
  bool any_held() const;
  std::vector<std::shared_ptr<Pass>> passes() const;
  void add(std::shared_ptr<Pass> pass, std::uint64_t now_ns);
  void set_split_off(const Pass& pass);
  void set_ended(const Pass& pass);
  // False once the pass was taken out.
  bool has(const Pass& pass) const;

  // What a trainer wants of the pass that it joins.
  struct Wanted {
    plan::Position position;
    const OrderHistory* history = nullptr;  // null: that of the pass
    // Of a job with ranks on other hosts: those may have other passes, with other changes to come.
    bool only_same_history = false;
    bool tails = false;
    LaneSet lanes;
    bool also_split_off = false;
    std::function<bool(const Pass&)> has_own_job;  // that is, of the trainer
  };
  // Joins the first pass that has the position, or will reach it within its slots.
  Result<std::optional<JoinedPass>> join(const Wanted& wanted);
  // Of the passes for which `counts` holds, the one that is furthest; null if there is none.
  const Pass* foremost(const std::function<bool(const Pass&)>& counts) const;

  using IsIdle = std::function<bool(const Pass&)>;
  // Takes out all idle passes.
  std::vector<std::shared_ptr<Pass>> take_idle(const IsIdle& is_idle);
  // Takes out one idle pass, or null.
  std::shared_ptr<Pass> take_one_idle(const IsIdle& is_idle);
  // Takes out split-off passes once they are idle, and of the others, all that have been idle for
  // some seconds except the one that was read last: it stays warm for a trainer that comes back.
  std::vector<std::shared_ptr<Pass>> take_surplus(const IsIdle& is_idle, std::uint64_t now_ns);

 private:
  // Null if the pass was taken out.
  Member* find(const Pass& pass);
  // Takes out the passes that meet the condition.
  std::vector<std::shared_ptr<Pass>> take_if(const std::function<bool(const Member&)>& taken);

  std::vector<Member> members_;
};

}  // namespace echoline::engine
