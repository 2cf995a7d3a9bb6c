// This consumer's cursor on a ring: which descriptors the trainer still holds, and the page on
// which the daemon is told.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "attach_request.h"
#include "echoline/shm/cursor_steps.h"
#include "error.h"
#include "os_handle.h"

namespace echoline::client {

// Threads: any; batches are released from finalizers. The lock is held for some ten instructions.
// Invariants: 1. released_ <= front_. 2. A descriptor below front_ with no hold and none before it
// is released at once. 3. holds_[s % size] belongs to s for released_ <= s < released_ + size.
class Cursor {
 public:
  // `fd` is the memfd of one CursorPage, mapped writable; it may be closed afterwards.
  Error open(int fd, std::uint32_t descriptor_count, std::uint64_t first_sequence);

  // A batch over descriptors [first, last] is made, and gone.
  void hold(std::uint64_t first, std::uint64_t last);
  void release(const shm::WriterPage& writer, std::uint64_t first, std::uint64_t last);
  // Nothing below `front` is needed for a batch to come.
  void advance(const shm::WriterPage& writer, std::uint64_t front);
  // The same after a batch was given out: the trainer's next one begins at that row.
  void give_out(const shm::WriterPage& writer, std::uint64_t front, std::uint32_t next_epoch,
                std::uint64_t next_row);
  // No batch between these places is wanted: the trainer's next one begins at `to`.
  void leave_out(const Position& from, const Position& to);

  // Whether the writer can't publish because of a batch that is out: `live` descriptors at most are
  // published and not released. kOwn: the calling thread took that batch, so that nobody gives it
  // back while it waits.
  enum class Blocker { kNone, kOwn, kOtherThread };
  Blocker blocker(std::uint64_t published, std::uint32_t live);

  // What a GPU did with the batches, for the daemon's metrics.
  void tell_device(const shm::DeviceFigures& figures);

  // Told to the daemon. One wait at a time is counted, whatever the number of threads.
  void begin_wait(std::uint64_t since_ns);
  void end_wait();

 private:
  struct Hold {
    std::uint32_t batches = 0;    // that are out
    const void* taker = nullptr;  // the thread that took the last one
  };

  void release_prefix(const shm::WriterPage& writer);

  Mapping mapping_;
  shm::CursorPage* page_ = nullptr;
  std::mutex mutex_;
  std::vector<Hold> holds_;  // per descriptor
  std::uint64_t released_ = 0;
  std::uint64_t front_ = 0;
  std::uint64_t batches_ = 0;
  Position left_out_begin_;
  Position left_out_end_;
  std::uint32_t waiters_ = 0;
};

}  // namespace echoline::client
