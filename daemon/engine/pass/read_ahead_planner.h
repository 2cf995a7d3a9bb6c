// Looks ahead in a pass's plan: which batches are planned, and which of their records are requested
// now, so that bytes are there in time and never more than there is room for.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "echo/window.h"
#include "engine/open/stream_core.h"
#include "engine/pass/in_flight_batch.h"
#include "engine/pass/join_table.h"
#include "engine/pass/pass_account.h"
#include "engine/pass/request_queue.h"
#include "engine/walk/read_ahead.h"

namespace echoline::engine {

// A step of the plan that waits for a slot.
struct PlannedBatch {
  Step step;
  std::shared_ptr<InFlightBatch> batch;
  plan::Position end;                         // of the walk, after this step
  RequestQueue::ShuffleWindow last_window{};  // of the requests for its records
};

// Called by the pass's thread, except note_wait and target_bytes (any thread).
// Invariant: encoded bytes that are requested and not used for the first time stay below the
// read-ahead's maximum; a batch that is larger is requested piece by piece.
class ReadAheadPlanner {
 public:
  ReadAheadPlanner(StreamCore& core, JoinTable& join_table, std::shared_ptr<PassAccount> account)
      : core_(core),
        join_table_(join_table),
        account_(std::move(account)),
        window_(account_),
        requests_(*core.fetchers),
        read_ahead_(core.read_ahead) {}

  // Before the first batch is published, or while there are no readers.
  struct Bound {
    std::size_t batches = 0;  // planned ones: those that get a slot
    std::uint64_t bytes = 0;  // ahead
  };
  // Plans batches and requests records up to the target, and within a bound until it has both, so
  // many batches and so many bytes. True while there is more to look at.
  bool look_ahead(const std::optional<Bound>& bound);
  // The last look_ahead stopped for want of room, which the workers make.
  bool lacks_room() const { return lacks_room_; }

  bool empty() const { return planned_.empty(); }
  const PlannedBatch& front() const { return planned_.front(); }
  PlannedBatch take_front();
  // Drops all planned batches: they are planned again. Bytes that are requested stay so.
  void take_back();
  // Drops the first batch, which no reader wants.
  void leave_out_front();
  // After the last planned batch was left out: requests the records of it that later batches share
  // and that were not requested yet, because later batches do not request them again.
  void request_shared() { requests_.send_shared(); }
  // Forgets the records kept for later uses: the plan went elsewhere.
  void clear_window() { window_.clear(); }
  void clear();

  // A trainer waits for bytes: more should be ahead. True for the first one since look_ahead.
  bool note_wait() { return !waited_for_bytes_.exchange(true, std::memory_order_relaxed); }
  std::uint64_t target_bytes() const { return target_bytes_.load(std::memory_order_relaxed); }

 private:
  // Measures, and returns how many bytes should be ahead now.
  std::uint64_t update_target();
  // Whether the target has room for two shuffle windows, so that each can be requested as a whole.
  bool requests_whole_windows() const;
  // Makes postponed requests ready while there is room for their bytes.
  void make_requests_ready();
  // Whether the next postponed request has to wait: it begins a shuffle window for which the target
  // has no room yet.
  bool waits_for_window() const;
  // Takes the next step of the walk and makes a batch of it, without a slot yet.
  // Nothing while the walk is held.
  std::optional<PlannedBatch> plan_step();
  // Adds the rows that this host prepares, and postpones the requests of their records. Returns the
  // last shuffle window of these.
  RequestQueue::ShuffleWindow add_rows(const std::vector<plan::RowUse>& uses,
                                       const std::vector<bool>& prepared, InFlightBatch& batch);

  StreamCore& core_;
  JoinTable& join_table_;
  const std::shared_ptr<PassAccount> account_;
  echo::Window window_;
  std::deque<PlannedBatch> planned_;
  RequestQueue requests_;  // the postponed ones are of the batch planned last
  ReadAhead read_ahead_;
  bool refilling_ = false;  // until the read-ahead is full
  bool lacks_room_ = false;
  std::atomic<std::uint64_t> target_bytes_{0};
  std::atomic<bool> waited_for_bytes_{false};
};

}  // namespace echoline::engine
