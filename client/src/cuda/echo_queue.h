// The batches that are on the device, in the order in which the trainer gets their uses.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "cuda/device_echo.h"
#include "state/state_json.h"

namespace echoline::client::cuda {

struct Slot;  // of a buffer; see device_loader.h

// Bookkeeping only; not thread safe. Rounds are epochs: the front one is the trainer's, the last
// one that of the copies.
class EchoQueue {
 public:
  // `position`: where the copies begin; `step`: of the first round's order, where a state was
  // taken.
  EchoQueue(const DeviceEcho& echo, State position, std::uint64_t step)
      : echo_(echo), frontier_(std::move(position)), rounds_(1) {
    rounds_.front().step = step;
  }

  // A batch came; `after`: the position behind it; `last`: known to be the epoch's last one.
  void add(Slot& slot, State after, bool last);
  // The copies are through with the epoch.
  void end_epoch(State after);

  enum class What : std::uint8_t { kWait, kBatch, kEnd };
  struct Next {
    What what = What::kWait;
    Slot* slot = nullptr;
    std::uint32_t use = 0;
    bool last_use = false;       // the batch leaves the queue
    bool last_of_epoch = false;  // as far as known
  };
  // The trainer's next use, and its taking; an end that is taken begins the next round.
  Next peek();
  void take(const Next& next);

  // Whether a use of the trainer's round was given.
  bool begun() const { return rounds_.front().begun; }
  bool copies_are_ahead() const { return rounds_.size() > 1; }
  // Abandons the trainer's round: what was kept for it. If the copies were in it, they go on from
  // `position`.
  std::vector<Slot*> drop_round(State position);

  // Where a loader has to begin to give the next use: at the oldest batch that is still wanted, and
  // at that step of an order which begins with it.
  struct Place {
    State position;
    std::uint64_t step;
  };
  Place place() const;

 private:
  struct Kept {
    Slot* slot;
    State before;
  };
  struct Round {
    std::map<std::uint64_t, Kept> batches;  // by number in the round
    std::uint64_t count = 0;                // that came
    std::uint64_t step = 0;
    bool ended = false;  // no more will come
    bool begun = false;
  };
  void end_round();

  const DeviceEcho echo_;
  State frontier_;
  std::deque<Round> rounds_;
};

}  // namespace echoline::client::cuda
