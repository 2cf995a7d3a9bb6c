// The changes of the echo factor that a ring tells of, as far as they matter from a position on.
#pragma once

#include <cstdint>
#include <vector>

#include "attach_request.h"
#include "echoline/shm/factor_log.h"
#include "ring_view.h"

namespace echoline::client {

// One thread at a time.
class FactorChanges {
 public:
  // From here on those of this ring, whose log is read anew.
  void reset();
  // Takes over what the ring's log has of epoch `epoch` and of later ones, and how that epoch
  // begins. Costs one look at a word while nothing is new. False where the log cannot be right.
  bool update(const RingView& ring, std::uint32_t epoch);

  // Whether there was any, so that epochs differ in length.
  bool any() const { return !entries_.empty(); }
  // Epochs after this one are all alike, as far as is known.
  std::uint32_t last_epoch() const { return entries_.empty() ? 0 : entries_.back().epoch; }
  std::uint64_t rows(const RingView& ring, std::uint32_t epoch) const {
    return shm::rows_of(entries_, epoch, ring.header().rows_per_epoch);
  }
  // What a state at this position holds: of its epoch, what was known when the rows before it were
  // planned.
  std::vector<shm::FactorEntry> of_state(const RingView& ring, const Position& position) const;
  // All that is known of its epoch and of later ones, for a daemon that knows none of it.
  std::vector<shm::FactorEntry> all_from(const RingView& ring, std::uint32_t epoch) const {
    return shm::factors_from(entries_, epoch, ring.header().factor);
  }

 private:
  std::uint64_t taken_ = 0;  // entries of the log
  std::vector<shm::FactorLogEntry> entries_;
};

}  // namespace echoline::client
