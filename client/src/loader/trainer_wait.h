// One wait of a trainer for a batch: sleeps, and reports the wait to the daemon.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "attach/door_client.h"
#include "mapped_ring/attachment.h"

namespace echoline::client {

// The waits of a trainer while it has no attachment, whose cursor page would count them: from the
// loss of a daemon, or the notice to move, until it is attached again. Any thread. Waits of several
// threads at the same time count as one.
class UnattachedWaits {
 public:
  void begin(std::uint64_t now_ns);
  void end(std::uint64_t now_ns);
  // All that was waited until now and not taken before, running waits included.
  std::uint64_t take(std::uint64_t now_ns);

 private:
  std::mutex mutex_;
  std::uint32_t waiters_ = 0;
  std::uint64_t since_ns_ = 0;  // while there are waiters
  std::uint64_t waited_ns_ = 0;
};

// Of one thread, used without the loader's lock. While it exists the wait is counted: on the cursor
// page of the attachment that it waits for, or by `unattached`. Each nanosecond counts once.
class TrainerWait {
 public:
  // `since_ns` (CLOCK_MONOTONIC): when the wait began.
  TrainerWait(UnattachedWaits& unattached, std::uint64_t since_ns)
      : unattached_(unattached), since_ns_(since_ns) {}
  ~TrainerWait() { end(); }
  TrainerWait(const TrainerWait&) = delete;
  TrainerWait& operator=(const TrainerWait&) = delete;

  // The attachment that is waited for from here on; null: none, as long as the trainer is not
  // attached.
  void set_attachment(const std::shared_ptr<Attachment>& attachment);
  // Sleeps until something may have changed, at most until `until_ns` and at most 50 ms. `seen` is
  // the number of published descriptors that the caller has looked at. `door` may be null.
  void sleep(const std::shared_ptr<DoorClient>& door, std::uint64_t seen, std::uint64_t until_ns);

 private:
  void end();

  UnattachedWaits& unattached_;
  std::uint64_t since_ns_;
  bool counting_ = false;
  std::shared_ptr<Attachment> attachment_;
};

}  // namespace echoline::client
