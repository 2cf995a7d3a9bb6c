// One walk through a stream's order: a thread that looks ahead in the plan, orders bytes, hands
// batches to the workers, and publishes them in plan order into a ring of its own. Jobs near each
// other share one.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/status.h"
#include "echo/window.h"
#include "engine/api/stats.h"
#include "engine/open/stream_core.h"
#include "engine/pass/in_flight_batch.h"
#include "engine/pass/pass_account.h"
#include "engine/runtime/memory_budget.h"
#include "engine/walk/lane_set.h"
#include "engine/walk/read_ahead.h"
#include "engine/walk/slot_pool.h"
#include "engine/walk/step_walk.h"
#include "plan/position.h"
#include "ring/ring.h"

namespace echoline::engine {

// Created, joined and stopped by one thread at a time, the one that holds its stream; prepare_row
// and wake are called by workers, who may also be the last to let go of it.
// Invariants: 1. batches are published in plan order. 2. A slot is written only after every reader
// has released what stood there. 3. Encoded bytes wanted and not yet used for the first time stay
// below read_ahead; a batch that is larger is ordered piece by piece.
class Pass : public std::enable_shared_from_this<Pass> {
 public:
  struct Options {
    plan::Position start = {};
    FactorHistory factors;
    bool tails = false;                  // from the start on
    std::uint64_t window_bytes_max = 0;  // of decoded and finished data; more stays encoded
  };
  // `reservations` stand for the memory of ring, read-ahead and window, and go with the pass.
  static Result<std::shared_ptr<Pass>> start(std::shared_ptr<StreamCore> core, Options options,
                                             std::vector<MemoryBudget::Reservation> reservations);
  // Ends the thread and tells the readers; returns when no worker is at it any more. Does
  // nothing the second time.
  void stop(shm::WriterState state);
  // Of a stopped pass that nobody reads: its last tasks may hold it while they lie in the workers'
  // queue, its memory is wanted at once.
  void give_back_memory() { reservations_.clear(); }

  StreamCore& core() { return *core_; }
  ring::Ring& ring() { return *ring_; }
  // Whether rows that do not fill the stream's own batches are published under `drop`.
  bool has_tails() const;
  bool stopping() const { return stopping_.load(); }
  // Those that were not held up have left it: no other job joins it any more.
  bool parted() const { return parted_; }
  void set_parted() { parted_ = true; }

  // In pass_factor.cc:
  // The changes of its factor that matter to who still reads it, and to nobody else.
  FactorHistory factors() const;
  // Whether a trainer with this state gets the rows here that its state promises.
  bool follows(plan::Position position, const FactorHistory& state) const;
  // kResourceExhausted where its log has no room for one more.
  Status check_factor_change() const;
  // What of the jobs that read it a change has to respect.
  struct Readers {
    std::uint64_t batch_rows_most = 0;
    plan::Position foremost;  // of the states that they came with: rows before it are theirs
  };
  // From the next block on that is not planned yet; nothing if that factor is its present one. The
  // jobs are left to the caller. After check_factor_change only, in the same step.
  std::optional<FactorStart> change_factor(std::uint32_t factor, const Readers& readers);

  // A place for a reader that wants `position`, if this pass still has it or comes to it within
  // its slots. `tails`: from there on it wants the rows that `drop` leaves over; `lanes`: of each
  // batch it wants these.
  Result<std::optional<ring::Ring::Reader>> join(plan::Position position, bool tails,
                                                 const LaneSet& lanes);
  // Nobody here wants others.
  void keep_lanes(const LaneSet& wanted);
  // Where a reader that joins now stands: the next descriptor to be published.
  plan::Position next_position() const;

  // What the readers wait for just now, when they wait.
  WaitCause wait_cause() const;
  // One of them waits for bytes: more are to be ahead.
  void note_wait_for_bytes();
  std::uint64_t ahead_bytes() const;
  std::uint64_t ahead_target_bytes() const {
    return ahead_target_bytes_.load(std::memory_order_relaxed);
  }
  std::uint64_t slots_filling() const { return slots_filling_.load(std::memory_order_relaxed); }
  // All that there is room for is published. Slots that are being filled are work to be done.
  bool is_held_up() const {
    const bool full = ring_full_.load(std::memory_order_relaxed) ||
                      ring_->published() - ring_->released() >= core_->ring_spec.descriptors_live;
    return full && slots_filling() == 0;
  }

  enum class Prepared : std::uint8_t { kDone, kBytesMissing, kStopped };
  // Row `index` of those that the filling wants.
  Prepared prepare_row(InFlightBatch& filling, std::uint32_t index, std::size_t worker);
  void wake() { ring_->interrupt(); }

 private:
  struct Mark {
    plan::Position start;
    std::uint32_t rows;
    std::uint64_t sequence;
  };
  struct Planned {
    Step step;
    std::shared_ptr<InFlightBatch> filling;
  };

  Pass(std::shared_ptr<StreamCore> core, Options options,
       std::vector<MemoryBudget::Reservation> reservations, std::unique_ptr<ring::Ring> ring);
  void run();
  bool pass_over();
  bool is_passed_over(const Step& step) const;
  std::optional<std::uint64_t> sequence_of(plan::Position position) const;
  std::uint32_t oldest_epoch() const;
  void publish_ready();
  std::uint32_t replaced_rows(const InFlightBatch& filling);

  // In pass_ahead.cc:
  bool look_ahead();
  std::uint64_t aim();
  void take_orders(std::vector<FetchRequest>& orders);
  Step walk_step(std::vector<bool>& prepared);
  Planned plan_step();
  void leave_out(const InFlightBatch& filling);
  void order_for_later();

  bool try_dispatch();
  std::optional<SlotPool::Slot> claim_slot(const Step& step);
  void dispatch(Planned planned, SlotPool::Slot slot);
  std::vector<std::uint32_t> chunk_ends(const InFlightBatch& filling) const;
  void start_chunks(const std::shared_ptr<InFlightBatch>& filling);

  // In pass_rows.cc:
  Prepared judge(echo::Item& item, std::unique_lock<std::mutex>& lock, const Status& verdict);
  void write_row_words(InFlightBatch& filling, const InFlightRow& planned, std::uint64_t sample,
                       bool replaced);
  void finish_ragged(const InFlightBatch& filling);

  const std::shared_ptr<StreamCore> core_;
  const Options options_;
  std::vector<MemoryBudget::Reservation> reservations_;
  const std::unique_ptr<ring::Ring> ring_;
  bool parted_ = false;

  // Of the pass's thread:
  const std::shared_ptr<PassAccount> account_;  // shared with the items
  echo::Window window_;
  std::deque<Planned> planned_;
  std::deque<FetchRequest> unordered_;  // of the batch planned last: there was no room yet
  ReadAhead read_ahead_;
  bool refilling_ = false;  // of the read-ahead, until it is full
  bool lacks_room_ = false;
  std::deque<std::shared_ptr<InFlightBatch>> fillings_;
  std::vector<std::uint32_t> replaced_in_slot_;
  SlotPool slots_;
  std::uint64_t dispatched_ = 0;  // the sequence of the next batch to be dispatched

  mutable std::mutex marks_mutex_;
  StepWalk walk_;           // moved on by the pass's thread
  std::deque<Mark> marks_;  // published and perhaps not released
  plan::Position next_position_;
  PreparedLanes lanes_;
  bool lanes_dropped_ = false;           // what the window holds of them is of no use
  plan::Position planned_position_;      // of the next step to be planned
  std::shared_ptr<InFlightBatch> head_;  // the next to be published, if dispatched

  std::mutex bad_mutex_;
  std::map<std::uint32_t, std::uint64_t> bad_by_epoch_;

  std::atomic<bool> stopping_{false};
  std::atomic<std::uint32_t> working_{0};  // workers in prepare_row
  std::atomic<std::uint64_t> ahead_target_bytes_{0};
  std::atomic<bool> waited_for_bytes_{false};
  std::atomic<std::uint64_t> slots_filling_{0};
  std::atomic<bool> ring_full_{false};
  std::thread thread_;
};

}  // namespace echoline::engine
