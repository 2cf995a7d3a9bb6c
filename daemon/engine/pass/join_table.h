// Where readers can join a pass: which batches are published and still kept, where its plan is, and
// which lanes it prepares.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "engine/open/stream_core.h"
#include "engine/pass/published_batches.h"
#include "engine/walk/lane_set.h"
#include "engine/walk/step_walk.h"
#include "plan/position.h"
#include "ring/ring.h"

namespace echoline::engine {

// The pass's thread moves it on; any thread calls the rest. One mutex guards all of it, so that a
// join, a publication, a planned step and a change of the factor are one step each to the others.
// Lock order: its mutex comes before those of items (in skip) and those inside ring::Ring.
class JoinTable {
 public:
  JoinTable(const StreamCore& core, ring::Ring& ring, plan::Position start, OrderHistory history,
            bool tails, bool held);

  // Of the pass's thread ------------------------------------------------------------------------

  struct NextStep {
    Step step;
    std::vector<bool> prepared;  // by row of the step: whether this host prepares it
    bool lanes_dropped = false;  // the window holds records of lanes that are not wanted any more
    bool is_replanned = false;   // it takes the place of all planned steps that were not begun
    plan::Position end;          // of the walk, after this step
  };
  // Nothing while the walk is held.
  std::optional<NextStep> next_step();
  // The next planned step, which ends there, gets a slot: from now on it stays as it is. False: the
  // planned steps are to be planned again.
  bool try_begin_step(plan::Position end);
  void publish(const shm::Descriptor& descriptor);
  // Leaves out what no reader wants. `drop_planned` drops the planned steps of that kind, or all if
  // they are to be planned again, and returns the start of the first one that it keeps; if there is
  // none, the walk leaps to what readers want. Nobody joins meanwhile. True if the walk has leapt.
  using DropPlanned = std::function<std::optional<plan::Position>(bool all)>;
  bool skip(const DropPlanned& drop_planned);

  // Of any thread -------------------------------------------------------------------------------

  // A place for a reader that wants `position`, if the pass still has it or reaches it within its
  // slots. `tails`: from there on the reader wants the rows that `drop` leaves over; `lanes`: the
  // lanes of each batch that it wants.
  Result<std::optional<ring::Ring::Reader>> join(plan::Position position, bool tails,
                                                 const LaneSet& lanes);
  // No reader of this host wants other lanes: its ranks have attached, or are not waited for.
  void keep_lanes(const LaneSet& wanted);
  // Whether the pass has a reader, and keep_lanes was called: before, it would read records of
  // lanes that other hosts have.
  bool may_read_ahead() const;
  // Where a reader that joins now begins: the next descriptor to be published.
  plan::Position next_position() const;

  // Reads from the walk, between two planned steps.
  template <typename Read>
  auto read_walk(const Read& read) const {
    const MutexLock lock(mutex_);
    return std::invoke(read, walk_);
  }
  // The changes as they are after those that no reader needs are forgotten; the epoch of the first
  // row that some reader may still want.
  struct NeededHistory {
    OrderHistory history;
    std::uint32_t oldest_epoch = 0;
  };
  NeededHistory needed_history() const;
  // Calls `change` between two steps, after changes that no reader needs are forgotten. What it
  // appends to the history of the walk it has to log in the ring, before any batch of the new order
  // can be published: trainers need it to name positions.
  // Behind the begun steps, all others are planned again. While the walk is held, and for plans
  // with fixed batches, whose later uses name the slots of earlier ones, it is behind the planned
  // ones.
  enum class Behind : std::uint8_t { kPlanned, kBegun };
  using Change = std::function<void(StepWalk& walk, ring::Ring& ring)>;
  void change_order(Behind behind, const Change& change);

  // While the daemons of several hosts agree on a change of the factor, no step is planned.
  void hold();
  void release();
  bool is_held() const { return held_.load(); }

 private:
  // The descriptor at which a reader that wants `position` has to start.
  std::optional<std::uint64_t> sequence_of(plan::Position position) const ECHOLINE_REQUIRES(mutex_);
  std::uint32_t oldest_epoch() const ECHOLINE_REQUIRES(mutex_);

  const StreamCore& core_;
  ring::Ring& ring_;
  mutable Mutex mutex_;
  StepWalk walk_ ECHOLINE_GUARDED_BY(mutex_);
  PublishedBatches published_ ECHOLINE_GUARDED_BY(mutex_);
  plan::Position next_position_ ECHOLINE_GUARDED_BY(mutex_);
  PreparedLanes lanes_ ECHOLINE_GUARDED_BY(mutex_);
  bool lanes_dropped_ ECHOLINE_GUARDED_BY(mutex_) = false;
  std::atomic<bool> lanes_known_;
  std::atomic<bool> held_;  // written with the lock
  // Of the next step to be planned, and of the next one to be begun.
  plan::Position planned_position_ ECHOLINE_GUARDED_BY(mutex_);
  plan::Position begun_position_ ECHOLINE_GUARDED_BY(mutex_);
  // The walk went back to begun_position_, and the pass still has the steps planned before.
  bool replans_ ECHOLINE_GUARDED_BY(mutex_) = false;
};

}  // namespace echoline::engine
