// The job of a stream that has ranks on other hosts, as far as the hosts agree on its order: what
// this host says and does while they do.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "agree/change.h"
#include "base/status.h"
#include "engine/api/job.h"
#include "engine/jobs/consumers.h"
#include "engine/open/stream_core.h"
#include "engine/stream/order_control.h"

namespace echoline::engine {

// Under the registry's lock. What it refers to outlives it. Its passes plan nothing from when its
// first trainer joins, and from hold(), until release().
class SharedJob {
 public:
  SharedJob(const StreamCore& core, const Consumers& consumers, OrderControl& order)
      : core_(core), consumers_(consumers), order_(order) {}

  // A trainer has joined its pass. `returns`: it comes from an earlier daemon.
  void note_joined(const Consumer& consumer, bool returns);
  bool is_holding() const { return holding_; }
  // At every tick: notes that the last trainer has left.
  void tick();

  // Of the agreement's thread ------------------------------------------------------------------

  struct View {
    Job job;
    std::uint64_t session = 0;  // another one: all its trainers had left meanwhile
    bool continues = false;     // its trainers came from an earlier daemon
    std::vector<std::uint32_t> ranks;
  };
  std::optional<View> view() const;
  std::uint64_t session() const { return session_; }
  // Those of its last rows that are planned; none without a mixture or without a pass.
  Weights weights() const;
  // Stops planning, and says from where on this host can make the change, or why it cannot.
  agree::Reply hold(const agree::Change& change);
  // The change that this host would make from a position on that all hosts have named.
  Result<agree::Change> change_from(const agree::Reply& latest, agree::Change change) const;
  // What a change did to the passes: one of the two.
  struct Made {
    std::vector<FactorSwitch> factors;
    std::vector<WeightStart> weights;
  };
  // Makes a change that was decided. An error: this host has another order than the others.
  Result<Made> make(const agree::Change& change);
  // Nothing is open: plans on.
  void release();

 private:
  bool is_member(const Consumer& consumer) const;
  void hold(const std::shared_ptr<Pass>& pass);
  bool holds(const Pass& pass) const;
  // The passes that the job reads.
  std::vector<std::shared_ptr<Pass>> passes() const;
  // Where the pass's trainers of the job began.
  plan::Position start_in(const Pass& pass) const;
  Status check(const agree::Change& change) const;
  // Makes the decided changes that the pass lacks.
  Status bring_up_to_date(Pass& pass, plan::Position start) const;
  Status bring_up_to_date(Pass& pass, plan::Position start, agree::Change::Kind kind) const;

  const StreamCore& core_;
  const Consumers& consumers_;
  OrderControl& order_;
  std::optional<Job> job_;
  std::uint64_t session_ = 0;
  bool continues_ = false;
  bool holding_ = false;  // from its first trainer on
  bool is_new_ = false;   // it has not made the changes before its first trainer
  std::vector<std::weak_ptr<Pass>> held_;
  std::deque<agree::Change> decided_;  // of this session, at most agree::Run::kLogMost
};

}  // namespace echoline::engine
