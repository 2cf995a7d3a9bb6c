// The cursors of a ring's readers, as the writer sees them: which descriptors each reader claims to
// have released.
#pragma once

#include <atomic>
#include <boost/interprocess/mapped_region.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "base/unique_fd.h"
#include "echoline/shm/ring_layout.h"
#include "plan/position.h"
#include "ring/reader.h"

namespace echoline::ring {

// One cursor page. Only the reader writes it; the daemon maps it read-only. Its values are claims:
// a `released` that decreases or exceeds `published` is ignored, and marks the reader as misbehaved
// until it is removed. Readers::mutex_ guards everything except id, fd and page.
class Cursor {
 public:
  static Result<std::shared_ptr<Cursor>> create();
  // Writes the first values. Called once, before any other thread can see the cursor.
  Status start(std::uint64_t id, std::uint64_t first_sequence, plan::Position next);

  std::uint64_t id() const { return id_; }
  int fd() const { return fd_.get(); }
  const shm::CursorPage& page() const;

  // Reads the current claim; returns the last valid one. `published` is loaded after the claim: an
  // older value would make the valid claim of a quick reader look impossible.
  std::uint64_t take_claim(const std::atomic<std::uint64_t>& published);
  // The claim that take_claim read last, valid or not.
  std::uint64_t seen() const { return seen_; }
  bool misbehaved() const { return misbehaved_; }
  ReaderView view() const;
  plan::Position next() const;

 private:
  std::uint64_t id_ = 0;
  std::uint64_t released_ = 0;
  std::uint64_t seen_ = 0;
  bool misbehaved_ = false;
  UniqueFd fd_;
  boost::interprocess::mapped_region region_;
};

// Any thread may call it. The lock is in the daemon's own memory, so no reader can hold it.
// Invariant: floor_ <= the valid claim of every reader.
class Readers {
 public:
  // The ring raises `published` before it notifies the readers.
  explicit Readers(const std::atomic<std::uint64_t>& published) : published_(published) {}

  Result<Reader> add(std::uint64_t first_sequence, plan::Position next);
  void remove(std::uint64_t id);

  // The lowest claim; the last value while there are no readers. Never decreases.
  std::uint64_t released();
  // The reader with the lowest claim, and that claim; null without readers.
  struct Slowest {
    std::shared_ptr<Cursor> cursor;
    std::uint64_t seen = 0;
  };
  Slowest slowest();
  bool any_waits() const;
  std::optional<plan::Position> next_wanted() const;
  ReaderView view(std::uint64_t id);

 private:
  // Reads all claims and raises floor_; returns the index of the slowest cursor, 0 without readers.
  std::size_t refresh() ECHOLINE_REQUIRES(mutex_);

  const std::atomic<std::uint64_t>& published_;
  mutable Mutex mutex_;
  std::vector<std::shared_ptr<Cursor>> cursors_ ECHOLINE_GUARDED_BY(mutex_);
  std::uint64_t floor_ ECHOLINE_GUARDED_BY(mutex_) = 0;
  std::uint64_t next_id_ ECHOLINE_GUARDED_BY(mutex_) = 1;
};

}  // namespace echoline::ring
