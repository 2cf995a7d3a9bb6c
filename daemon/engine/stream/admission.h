// Where a trainer that attaches begins to read, and with which echo factors and weights.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "echoline/shm/door.h"
#include "engine/api/attach.h"
#include "engine/jobs/attach_call.h"
#include "engine/jobs/consumers.h"
#include "engine/jobs/pending_ranks.h"
#include "engine/open/stream_core.h"
#include "engine/stream/attach_check.h"
#include "engine/stream/order_control.h"
#include "engine/stream/pass_set.h"

namespace echoline::engine {

// Decides; changes nothing. Under the registry's lock. What it refers to outlives it.
class Admission {
 public:
  Admission(const StreamCore& core, const Consumers& consumers, const PassSet& passes,
            const PendingRanks& pending_ranks)
      : core_(core), consumers_(consumers), passes_(passes), pending_ranks_(pending_ranks) {}

  // The trainer of this request, without a place to read yet. An error for a request that no pass
  // of the stream can serve.
  Result<Consumer> consumer_of(const AttachCall& call, std::uint64_t now_ns) const;
  // Its start. `order` has the factor and the weights for a trainer without a state, where no other
  // one reads.
  Result<Start> start_of(const shm::AttachRequest& request, const Job& job,
                         const OrderControl& order) const;
  // What it wants of the pass that it joins.
  PassSet::Wanted wanted_by(const Consumer& consumer, const Start& start) const;
  // The pass to build for it where no pass has its position.
  Pass::Options new_pass_for(const Consumer& consumer, const Start& start) const;
  static Attachment attachment_of(const Consumer& consumer, const JoinedPass& joined);

 private:
  struct Wish {
    plan::Position position;
    const Pass* same_history_as = nullptr;  // null: no pass sets it
  };

  // For a trainer without a state.
  Wish wish_of(const shm::AttachRequest& request, const Job& job) const;
  // Where `join: current` begins in this pass: at a multiple of the job's own batch size.
  static plan::Position current_position(const Pass& foremost, const Pass& factors, const Job& job);
  // Whether the trainer wants the rows that `drop` leaves over at the stream's own batch size.
  bool needs_tails(const Consumer& consumer) const;

  const StreamCore& core_;
  const Consumers& consumers_;
  const PassSet& passes_;
  const PendingRanks& pending_ranks_;
};

}  // namespace echoline::engine
