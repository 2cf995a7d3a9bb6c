// The batches on the device, in the order in which the trainer gets their uses.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "cuda/device_echo.h"
#include "state/state_json.h"

namespace echoline::client::cuda {

struct DeviceSlot;  // never dereferenced here

// Bookkeeping only; not thread safe. The copies may be an epoch ahead of the trainer: the trainer
// is in the first epoch of `epochs_`, the copies are in the last one.
class EchoQueue {
 public:
  // `position`: of the first batch that is copied. `step`: the first one that the trainer gets,
  // counted from that batch; not 0 only after a state.
  EchoQueue(const DeviceEcho& echo, State position, std::uint64_t step)
      : echo_(echo), next_position_(std::move(position)), epochs_(1) {
    epochs_.front().step = step;
  }

  // A batch was copied. `after`: the position behind it; `last`: it is known to end the epoch.
  // Unchanged if it throws std::bad_alloc, except that the last batch then ends no epoch.
  void add(DeviceSlot& slot, State after, bool last);
  // The copies have reached the end of their epoch. Does nothing more if add() said so already.
  void end_epoch(State after);

  enum class Kind : std::uint8_t { kWait, kBatch, kEnd };
  struct Next {
    Kind kind = Kind::kWait;
    DeviceSlot* slot = nullptr;
    std::uint32_t use = 0;
    bool last_use = false;       // the batch leaves the queue
    bool last_of_epoch = false;  // as far as known
  };
  // What the trainer gets next; and its taking. An end that is taken begins the next epoch.
  Next peek();
  void take(const Next& next);

  // Whether the trainer took a use of its epoch.
  bool begun() const { return epochs_.front().begun; }
  bool copies_are_ahead() const { return epochs_.size() > 1; }
  // Abandons the trainer's epoch and returns its slots. If the copies were in the same epoch, they
  // continue from `position`.
  std::vector<DeviceSlot*> drop_epoch(State position);

  // Where a new loader has to begin so that it gives the trainer's next use: at the position of the
  // oldest batch that still has uses to give, and at a step counted from that batch.
  struct ResumePoint {
    State position;
    std::uint64_t step;
  };
  ResumePoint resume_point() const;

 private:
  struct Entry {
    DeviceSlot* slot = nullptr;
    State before;  // the position of the batch
  };
  struct Epoch {
    std::map<std::uint64_t, Entry> batches;  // with uses to give; by number in the epoch
    std::uint64_t count = 0;                 // batches that were added
    std::uint64_t step = 0;                  // of the trainer's next use
    bool ended = false;                      // no more will be added
    bool begun = false;
  };
  void end_last_epoch();

  const DeviceEcho echo_;
  State next_position_;  // of the next batch to be added
  std::deque<Epoch> epochs_;
};

}  // namespace echoline::client::cuda
