// One walk through a stream's order: it looks ahead in the plan, requests bytes, hands batches to
// the workers, and publishes them in plan order into a ring of its own. Jobs near each other share
// one pass.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/status.h"
#include "engine/api/stats.h"
#include "engine/open/stream_core.h"
#include "engine/pass/first_requests.h"
#include "engine/pass/hold_up.h"
#include "engine/pass/in_flight_queue.h"
#include "engine/pass/join_table.h"
#include "engine/pass/pass_account.h"
#include "engine/pass/pass_trace.h"
#include "engine/pass/read_ahead_planner.h"
#include "engine/pass/row_maker.h"
#include "engine/runtime/agent.h"
#include "engine/runtime/agent_thread.h"
#include "engine/runtime/memory_budget.h"
#include "engine/walk/slot_pool.h"
#include "plan/position.h"
#include "ring/ring.h"

namespace echoline::engine {

// create, start_thread and stop are called by one thread at a time: the passes thread, or the one
// that opens or ends the stream;
// the Agent's methods by the pass's thread; the rest by any thread.
// Invariants: 1. Batches are published in plan order. 2. A slot is written only after every reader
// has released what was there.
class Pass : public Agent {
 public:
  struct Options {
    plan::Position start = {};
    OrderHistory history;
    bool held = false;                   // plans nothing until release()
    bool tails = false;                  // publish rows that `drop` leaves over, from the start on
    std::uint64_t window_bytes_max = 0;  // decoded and finished data; more stays encoded
  };
  // Reserves the ring's memory, which takes time. `reservations` count the memory of ring,
  // read-ahead and window, and end with the pass.
  static Result<std::shared_ptr<Pass>> create(std::shared_ptr<StreamCore> core, Options options,
                                              std::vector<MemoryBudget::Reservation> reservations);
  // create, with its thread started.
  static Result<std::shared_ptr<Pass>> start(std::shared_ptr<StreamCore> core, Options options,
                                             std::vector<MemoryBudget::Reservation> reservations);
  ~Pass() override;
  void start_thread() { thread_.start(); }
  // Ends the thread and tells the readers; returns when no worker writes rows any more. Does
  // nothing the second time: the readers keep the first state.
  void stop(shm::WriterState state);
  // Of a stopped pass without readers: ends its reservations although queued tasks may still hold
  // its memory for a moment.
  void give_back_memory() { reservations_.clear(); }

  StreamCore& core() { return *core_; }
  ring::Ring& ring() { return *ring_; }
  const ring::Ring& ring() const { return *ring_; }
  bool stopping() const { return stopped_.load(); }

  // See JoinTable.
  Result<std::optional<ring::Ring::Reader>> join(plan::Position position, bool tails,
                                                 const LaneSet& lanes) {
    return join_table_.join(position, tails, lanes);
  }
  void keep_lanes(const LaneSet& wanted) { join_table_.keep_lanes(wanted); }
  plan::Position next_position() const { return join_table_.next_position(); }
  bool has_tails() const { return join_table_.read_walk(&StepWalk::has_tails); }
  // The changes that matter to the readers that are left.
  OrderHistory history() const { return join_table_.read_walk(&StepWalk::history); }
  FactorHistory factors() const { return join_table_.read_walk(&StepWalk::factors); }
  JoinTable& join_table() { return join_table_; }
  const JoinTable& join_table() const { return join_table_; }

  const HoldUp& hold_up() const { return hold_up_; }
  void note_wait_for_bytes();  // of a reader: more should be read ahead
  std::uint64_t ahead_bytes() const { return account_->ahead_bytes(); }
  std::uint64_t ahead_target_bytes() const { return planner_.target_bytes(); }
  std::uint64_t slots_filling() const { return in_flight_.size(); }
  // The batch that readers wait for, or null.
  std::shared_ptr<const InFlightBatch> head() const { return in_flight_.head(); }
  const PassTrace& trace() const { return trace_; }

  // Agent: publishes what is done, looks ahead, and starts batches that have a slot.
  bool do_work() override;
  void wait() override;
  void wake() override { ring_->interrupt(); }

 private:
  Pass(std::shared_ptr<StreamCore> core, Options options,
       std::vector<MemoryBudget::Reservation> reservations, std::unique_ptr<ring::Ring> ring);
  std::optional<ReadAheadPlanner::Bound> request_bound();  // nothing: only the target is one
  void publish_done();                                     // those at the front, in order
  // Rows of the batch's slot that were replaced; a slot that is published again keeps its number.
  std::uint32_t replaced_rows(const InFlightBatch& batch);
  bool is_unwanted(const Step& step) const;  // every reader left it behind unread (break, skip)
  // Leaves out unwanted steps. True while batches in flight have to be published before.
  bool skip_unwanted();
  bool try_start_batch();  // the first planned one, if it gets a slot
  std::optional<SlotPool::Slot> claim_slot(const Step& step);  // nothing while none is free

  const std::shared_ptr<StreamCore> core_;
  std::vector<MemoryBudget::Reservation> reservations_;
  const std::shared_ptr<ring::Ring> ring_;
  const std::uint64_t mean_record_bytes_;
  const std::shared_ptr<PassAccount> account_;  // shared with the items
  const PassTrace trace_;
  const std::shared_ptr<RowMaker> row_maker_;  // shared with the batches
  JoinTable join_table_;

  // Of the pass's thread:
  ReadAheadPlanner planner_;
  FirstRequests first_requests_;
  InFlightQueue in_flight_;
  SlotPool slots_;
  std::vector<std::uint32_t> replaced_in_slot_;
  std::uint64_t next_sequence_ = 0;  // of the next batch to be started
  std::uint64_t released_seen_ = 0;  // when the last do_work began

  HoldUp hold_up_;
  std::atomic<bool> stopped_{false};
  AgentThread thread_;
};

}  // namespace echoline::engine
