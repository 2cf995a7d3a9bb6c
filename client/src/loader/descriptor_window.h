// The published descriptors of a ring that the next batches of this rank need.
#pragma once

#include <cstdint>
#include <memory>

#include "loader/stream_position.h"
#include "mapped_ring/attachment.h"
#include "mapped_ring/batch.h"
#include "system/error.h"

namespace echoline::client {

// Never blocks. One thread at a time (the loader's lock).
// Invariants: 1. No future batch needs a descriptor below `front_`. 2. No row is skipped silently:
// a gap in what the daemon publishes is an error (DATA_LOSS).
class DescriptorWindow {
 public:
  // Starts at the first descriptor that the daemon granted.
  void attach(std::shared_ptr<Attachment> attachment);
  // Continues in a new mapping of the same ring.
  void remap(std::shared_ptr<Attachment> attachment) { attachment_ = std::move(attachment); }

  const std::shared_ptr<Attachment>& attachment() const { return attachment_; }
  // What the last refresh() read: a waiter sleeps until `published` differs from it.
  std::uint64_t published() const { return published_; }
  void refresh();

  // Releases the descriptors of rows before the position. Learns the end of the epoch if they say
  // so.
  Error skip_passed(StreamPosition& position);
  // OK: `location` and `info` describe the batch at the position. TIMEOUT: not published yet.
  // CANCELLED: the end of the epoch was found, start over. LEASE_HELD, DATA_LOSS: errors.
  Error locate(StreamPosition& position, RingLocation& location, BatchInfo& info);
  // The trainer got the batch that locate() found: moves the position and the front past it.
  void advance(StreamPosition& position, const BatchInfo& info, std::uint64_t last_sequence);

  // After TIMEOUT: a batch that another thread holds keeps the daemon from publishing.
  bool blocked_by_other_thread() const { return blocked_by_other_; }
  Error lease_held() const;

 private:
  const shm::RingHeader& header() const { return attachment_->ring().header(); }
  // Takes the end of the epoch from a descriptor that is marked as its last one.
  void note_end(StreamPosition& position, const shm::Descriptor& descriptor) const;
  // Decides what it means that a later epoch follows before the rows at the position.
  Error handle_early_end(StreamPosition& position, const shm::Descriptor& descriptor) const;
  // Checks that the descriptors after the front, up to `last_sequence`, continue it.
  Error check_run(StreamPosition& position, std::uint64_t last_sequence);
  // TIMEOUT, or LEASE_HELD if only the calling thread can change that.
  Error not_ready();

  std::shared_ptr<Attachment> attachment_;
  std::uint64_t front_ = 0;
  std::uint64_t published_ = 0;
  bool blocked_by_other_ = false;
};

}  // namespace echoline::client
