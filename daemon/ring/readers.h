// The readers of one ring as its writer sees them: whose cursor counts for reclaiming, and what it
// claims.
#pragma once

#include <atomic>
#include <boost/interprocess/mapped_region.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"
#include "echoline/shm/ring_layout.h"
#include "ring/ring.h"

namespace echoline::ring {

// One cursor page, mapped read-only here: its one writer is the reader. What it says is a claim: a
// value that falls or that is beyond `published` is not taken, and marks the reader for good.
class Cursor {
 public:
  static Result<std::shared_ptr<Cursor>> create();
  // Once, before anybody else knows of it.
  Status start(std::uint64_t id, std::uint64_t first_sequence, plan::Position next);

  std::uint64_t id() const { return id_; }
  int fd() const { return fd_.get(); }
  const shm::CursorPage& page() const;

  // The last claim that could be. Under the lock of Readers. `published` is loaded after the claim:
  // a count from before it would make a liar of a quick and honest reader.
  std::uint64_t take_claim(const std::atomic<std::uint64_t>& published);
  // The claim as it stood at the last look, taken or not.
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

// Any thread. The lock is the daemon's own: no reader can hold it. Invariant: floor <= claim of
// every reader.
class Readers {
 public:
  // `published` is raised before the readers are told.
  explicit Readers(const std::atomic<std::uint64_t>& published) : published_(published) {}

  Result<Ring::Reader> add(std::uint64_t first_sequence, plan::Position next);
  void remove(std::uint64_t id);

  // The least claim; what it was before, without readers. Never falls.
  std::uint64_t released();
  // Who holds it down: null without readers.
  struct Slowest {
    std::shared_ptr<Cursor> cursor;
    std::uint64_t seen = 0;
  };
  Slowest slowest();
  bool any_waits() const;
  std::optional<plan::Position> next_wanted() const;
  ReaderView view(std::uint64_t id);

 private:
  // Takes all claims; the index of the slowest cursor, or of none.
  std::size_t refresh();

  const std::atomic<std::uint64_t>& published_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Cursor>> cursors_;
  std::uint64_t floor_ = 0;
  std::uint64_t next_id_ = 1;
};

}  // namespace echoline::ring
