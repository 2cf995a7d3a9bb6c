// One wait of a trainer for a batch: sleeps, and reports the wait to the daemon.
#pragma once

#include <cstdint>
#include <memory>

#include "attach/door_client.h"
#include "mapped_ring/attachment.h"

namespace echoline::client {

// Of one thread, used without the loader's lock. While it exists the wait is counted on the cursor
// page of the attachment it waits for.
class TrainerWait {
 public:
  // `since_ns` (CLOCK_MONOTONIC): when the wait began.
  explicit TrainerWait(std::uint64_t since_ns) : since_ns_(since_ns) {}
  ~TrainerWait() { set_attachment(nullptr); }
  TrainerWait(const TrainerWait&) = delete;
  TrainerWait& operator=(const TrainerWait&) = delete;

  // The attachment that is waited for from here on; null: none, as long as the trainer is not
  // attached.
  void set_attachment(const std::shared_ptr<Attachment>& attachment);
  // Sleeps until something may have changed, at most until `until_ns` and at most 50 ms. `seen` is
  // the number of published descriptors that the caller has looked at. `door` may be null.
  void sleep(const std::shared_ptr<DoorClient>& door, std::uint64_t seen, std::uint64_t until_ns);

 private:
  const std::uint64_t since_ns_;
  std::shared_ptr<Attachment> attachment_;
};

}  // namespace echoline::client
