// The trainer's place in the stream of rows: turns what the ring publishes into this rank's
// batches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "attach_request.h"
#include "attachment.h"
#include "batch.h"
#include "factor_changes.h"
#include "rows.h"

namespace echoline::client {

// Never blocks. One thread at a time (the loader's lock).
// Invariants: 1. `position_` is where the next batch begins: after an epoch's last batch, row 0 of
// the next. 2. Every descriptor below `front_` is of no use to a batch to come. 3. No row is left
// out silently: a gap in what the daemon publishes is an error.
class Reader {
 public:
  // Takes the first attachment: checks that the job fits the ring, and starts where the daemon
  // says.
  Error start(std::shared_ptr<Attachment> attachment, const AttachWish& wish);
  // Takes the attachment to a daemon that came back: it must go on at the very position.
  Error resume(std::shared_ptr<Attachment> attachment);

  // OK; TIMEOUT: not published yet; END_OF_EPOCH; LEASE_HELD; DATA_LOSS.
  Error try_next(std::unique_ptr<Batch>& batch);
  void begin_epoch();
  Error skip(std::uint64_t steps);

  const std::shared_ptr<Attachment>& attachment() const { return attachment_; }
  const Cut& cut() const { return cut_; }
  const Position& position() const { return position_; }
  // What the state at the position holds of the echo factor's changes, and all that is known of
  // them from its epoch on.
  std::vector<shm::FactorEntry> changes();
  std::vector<shm::FactorEntry> changes_known();
  // What try_next saw last: the value to sleep on.
  std::uint64_t seen_published() const { return published_; }
  // After TIMEOUT: a batch that another thread took keeps the writer from publishing.
  bool blocked_by_other_thread() const { return blocked_by_other_; }
  Error lease_held() const;
  // Whether the position was moved on since the last batch. Then a batch that is still held, as by
  // the variable of a loop that was left by `break`, is no mistake of the trainer's: it is copied
  // aside.
  bool jumped() const { return jumped_; }
  Error leave_kept_behind();
  // Batches of a whole epoch; none if the factor was changed, or can change by itself.
  std::optional<std::uint64_t> steps_per_epoch();
  bool is_variable();

 private:
  const shm::RingHeader& header() const { return attachment_->ring().header(); }
  bool has(shm::RingFlag flag) const { return (header().flags & flag) != 0; }
  std::uint64_t span() const;
  Error check_fit() const;
  Error adopt(std::shared_ptr<Attachment> attachment);
  Error look_at_factor();
  std::optional<std::uint64_t> epoch_rows() const;
  bool epoch_is_over() const;
  void enter_next_epoch();
  void jump(const Position& from);
  std::uint64_t first_row_needed() const;
  void note_end(const shm::Descriptor& descriptor);
  Error skip_passed();
  Error early_end(const shm::Descriptor& descriptor);
  // OK: place and facts are filled. CANCELLED: the epoch's end was found, look again.
  Error locate(Place& place, BatchFacts& facts);
  Error check_run(std::uint64_t last_sequence);
  Error not_ready();
  void step_over(const BatchFacts& facts, std::uint64_t last_sequence);

  std::shared_ptr<Attachment> attachment_;
  Cut cut_;
  Position position_;
  FactorChanges changes_;
  std::uint64_t front_ = 0;
  std::uint64_t published_ = 0;
  std::optional<std::uint64_t> end_;  // rows of the position's epoch, as a descriptor said
  bool begun_ = false;                // a batch of the position's epoch was given out in this loop
  bool blocked_by_other_ = false;
  bool jumped_ = false;
  bool overlap_ = false;      // the trainer gives a batch back only after it has the next
  bool pending_end_ = false;  // the next call says END_OF_EPOCH
};

}  // namespace echoline::client
