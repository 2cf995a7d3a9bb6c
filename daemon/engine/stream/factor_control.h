// Changes the echo factor of a stream while it runs (semantics.md, Changing the factor): in all of
// its passes, or in none.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/api/stats.h"
#include "engine/jobs/consumers.h"
#include "engine/jobs/reattach_barrier.h"
#include "engine/open/stream_core.h"
#include "engine/stream/attach_check.h"
#include "engine/stream/pass_set.h"

namespace echoline::engine {

// What a change did to one pass. `start.row` is a lower bound; see first_changed_row.
struct FactorSwitch {
  FactorStart start;
  FactorHistory before;
  FactorHistory after;
};

// Under the registry's lock. What it refers to outlives it.
class FactorControl {
 public:
  FactorControl(const StreamCore& core, const Consumers& consumers, const PassSet& passes,
                const ReattachBarrier& barrier);

  const PresentFactor& present() const { return present_; }
  // Trainers without a state begin with this factor, which an earlier daemon kept, or which a job
  // had on its other hosts; a factor out of bounds is ignored. Passes stay as they are.
  void begin_with(std::uint32_t factor);
  // Whether the present factor, and that of every pass, is this one.
  bool is_everywhere(std::uint32_t factor) const;
  // Ok if a change to this factor is possible now and every trainer can follow it. `agreed`: a job
  // whose hosts agree on the place of the change.
  Status check(std::uint32_t factor, const Job* agreed = nullptr) const;
  // How a change is made in a pass whose place other hosts have a say in.
  using MakeAgreed = std::function<Status(Pass& pass)>;
  // After check(), with the lock held all the time: every pass continues with `factor` from its
  // next block of which no row has a slot, those of `agreed` as `make` does it. Returns one entry
  // for each pass that had another factor. Errors are those of `make`.
  Result<std::vector<FactorSwitch>> apply(std::uint32_t factor,
                                          const std::vector<std::shared_ptr<Pass>>& agreed = {},
                                          const MakeAgreed& make = {});

  // Grows with every change. A pass that was built for an older number has the wrong factors.
  std::uint64_t changes() const { return changes_; }
  // Whether a trainer that attaches can follow changes, if there are or will be any: its client
  // library must know them, or its states would lack them and a later run would get another order.
  // With `factor: auto`, all ranks of its job must be on this host, or the hosts agree.
  Status check_attach(const Consumer& consumer, const Start& start) const;
  void note_start(const Start& start) { present_.has_changed |= !start.history.factors.empty(); }

 private:
  void set_present(std::uint32_t factor);
  // Whether the stream can ever have this factor.
  Status check_bounds(std::uint32_t factor) const;
  // The trainer's own batches must still fit the slots. `epoch_rows`: of whole epochs with the new
  // factor.
  Status check_batches(const Consumer& consumer, std::uint64_t epoch_rows) const;

  const StreamCore& core_;
  const Consumers& consumers_;
  const PassSet& passes_;
  const ReattachBarrier& barrier_;
  PresentFactor present_;
  std::uint64_t changes_ = 0;
};

}  // namespace echoline::engine
