// This trainer's cursor on a ring: which descriptors it still holds, and the shared page that
// reports it to the daemon.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "echoline/shm/cursor_steps.h"
#include "state/position.h"
#include "system/error.h"
#include "system/fd_and_mapping.h"

namespace echoline::client {

// Any thread: finalizers release batches, too. The lock is held for about ten instructions.
// Invariants: 1. released_ <= front_. 2. The descriptors below front_ are released as soon as
// neither they nor any before them are held. 3. holds_[s % size] belongs to descriptor s for
// released_ <= s < released_ + size.
class Cursor {
 public:
  // `fd` is the memfd of one CursorPage, mapped writable; it may be closed afterwards.
  Error open(int fd, std::uint32_t descriptor_count, std::uint64_t first_sequence);

  // A batch over descriptors [first, last] is created (hold) or destroyed (release).
  void hold(std::uint64_t first, std::uint64_t last);
  void release(const shm::WriterPage& writer, std::uint64_t first, std::uint64_t last);
  // No future batch needs a descriptor below `front`.
  void advance(const shm::WriterPage& writer, std::uint64_t front);
  // The same after a batch was given to the trainer, whose next one begins at that row.
  void record_batch(const shm::WriterPage& writer, std::uint64_t front, std::uint32_t next_epoch,
                    std::uint64_t next_row);
  // The trainer skips the batches between these positions: its next one begins at `to`.
  void record_skip(const Position& from, const Position& to);

  // Whether a batch that the trainer holds keeps the daemon from publishing: at most `live`
  // descriptors may be published and not released. kOwn: the calling thread took that batch, so
  // nobody can give it back while this thread waits.
  enum class Blocker { kNone, kOwn, kOtherThread };
  Blocker blocker(std::uint64_t published, std::uint32_t live);

  // Reports what a GPU did with the batches, for the daemon's metrics.
  void report_device(const shm::DeviceFigures& figures);

  // Adds losses that the trainer reports, for the daemon's metrics.
  void add_losses(const shm::LossFigures& more);

  // Report to the daemon that the trainer waits. Waits of several threads at the same time count as
  // one.
  void begin_wait(std::uint64_t since_ns);
  void end_wait();
  // Reports what the trainer waited before this attachment, while it had none.
  void add_wait(std::uint64_t waited_ns);

 private:
  struct Hold {
    std::uint32_t batches = 0;    // that the trainer has
    const void* taker = nullptr;  // the thread that took the newest one
  };

  // Releases the descriptors from released_ up to the first held one, at most up to front_.
  void release_prefix(const shm::WriterPage& writer);

  Mapping mapping_;
  shm::CursorPage* page_ = nullptr;
  std::mutex mutex_;
  std::vector<Hold> holds_;  // per descriptor
  std::uint64_t released_ = 0;
  std::uint64_t front_ = 0;
  std::uint64_t batches_ = 0;  // given to the trainer so far
  Position skip_begin_;        // of the newest run of skipped batches
  Position skip_end_;
  shm::LossFigures losses_{};  // reported so far
  std::uint32_t waiters_ = 0;  // threads between begin_wait and end_wait
};

}  // namespace echoline::client
