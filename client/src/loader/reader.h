// Turns the descriptors that the daemon publishes into the batches of this rank.
#pragma once

#include <memory>

#include "attach/attach_options.h"
#include "loader/descriptor_window.h"
#include "loader/stream_position.h"
#include "mapped_ring/attachment.h"
#include "mapped_ring/batch.h"
#include "system/error.h"

namespace echoline::client {

// Joins the position of the trainer (StreamPosition) with the ring it is attached to
// (DescriptorWindow). Never blocks. One thread at a time (the loader's lock).
class Reader {
 public:
  // Takes the first attachment: checks that the job fits the ring, and starts at the position that
  // the daemon granted.
  Error start(std::shared_ptr<Attachment> attachment, const AttachOptions& options);
  // Takes a later attachment. DATA_LOSS unless the daemon continues at exactly the same position.
  Error resume(std::shared_ptr<Attachment> attachment);
  // `options` with everything a daemon needs to let this trainer continue at its position.
  AttachOptions options_to_reattach(AttachOptions options);

  // OK; TIMEOUT: not published yet; END_OF_EPOCH; LEASE_HELD; DATA_LOSS.
  Error try_next(std::unique_ptr<Batch>& batch);
  void begin_epoch();
  Error skip(std::uint64_t steps);

  // Null before start().
  const std::shared_ptr<Attachment>& attachment() const { return window_.attachment(); }
  const shm::RingHeader& header() const { return attachment()->ring().header(); }
  StreamPosition& position() { return position_; }
  const DescriptorWindow& window() const { return window_; }

  // Whether the trainer skipped batches since the last one it got. Then a batch that it still holds
  // (in the variable of a loop that ended by `break`, for example) is not an error.
  bool jumped() const { return jumped_; }
  // Gives the held batches private copies of their rows and releases their slots.
  Error detach_held_batches();

 private:
  // Reads from this ring from now on, and checks that its slots are enough.
  Error adopt(std::shared_ptr<Attachment> attachment);
  // Tells the daemon that it need not prepare the batches from `from` to the position.
  void report_jump(const Position& from);

  DescriptorWindow window_;
  StreamPosition position_;
  bool jumped_ = false;
  bool overlap_ = false;  // the trainer releases a batch only after it has the next one
};

}  // namespace echoline::client
