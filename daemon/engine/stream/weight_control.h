// Changes the weights of a mixture's sources while the stream runs (semantics.md, Changing the
// weights): in all of its passes, or in none.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "echoline/v1/config.pb.h"
#include "engine/api/stats.h"
#include "engine/jobs/reattach_barrier.h"
#include "engine/open/stream_core.h"
#include "engine/stream/attach_check.h"
#include "engine/stream/attendance.h"
#include "engine/stream/pass_set.h"

namespace echoline::engine {

// Under the registry's lock. What it refers to outlives it.
class WeightControl {
 public:
  WeightControl(const StreamCore& core, const v1::Stream& definition, Attendance& attendance,
                PassSet& passes, const ReattachBarrier& barrier);

  // Those that were set last; none without a mixture.
  const Weights& present() const { return present_; }
  // Trainers without a state begin with these, which an earlier daemon kept, or which a job had on
  // its other hosts; ignored where the plan does not accept them. Passes stay as they are.
  void begin_with(const Weights& weights);
  // Every pass continues with some other weights from its next row without echo that is not
  // planned. Errors change nothing: kInvalidArgument names the source or the weight;
  // kFailedPrecondition if the stream is no mixture, or if not all trainers could follow. Returns
  // one entry for each pass that had other weights.
  Result<std::vector<WeightStart>> set(const NamedWeights& changed);

  // The parts of set(), for a job whose hosts agree on the place of the change: `base` with these
  // changed;
  Result<Weights> with(const NamedWeights& changed, const Weights& base) const;
  // whether the present weights, and those of every pass, are these;
  bool is_everywhere(const Weights& weights) const;
  // ok if a change is possible now and every trainer can follow it;
  Status check(const Weights& weights, const Job* agreed = nullptr) const;
  // and the change, see FactorControl::apply.
  using MakeAgreed = std::function<Status(Pass& pass)>;
  Result<std::vector<WeightStart>> apply(const Weights& weights,
                                         const std::vector<std::shared_ptr<Pass>>& agreed = {},
                                         const MakeAgreed& make = {});

  // Grows with every change. A pass that was built for an older number has the wrong weights.
  std::uint64_t changes() const { return changes_; }
  // Whether a trainer that attaches can follow changes, if there are any.
  Status check_attach(const Consumer& consumer, const Start& start) const;
  void note_start(const Start& start) { has_changed_ |= !start.history.weights.empty(); }

  // What the last change leaves to the owner. Passes with the earlier weights that nobody reads:
  std::vector<std::shared_ptr<Pass>> take_idle() { return std::exchange(idle_, {}); }
  // Weights to be kept over restarts.
  std::optional<Weights> take_kept() { return std::exchange(kept_, {}); }

 private:
  const StreamCore& core_;
  const v1::Stream& definition_;
  Attendance& attendance_;
  PassSet& passes_;
  const ReattachBarrier& barrier_;
  Weights present_;
  bool has_changed_ = false;  // these weights or those of any pass, at any time
  std::uint64_t changes_ = 0;
  std::vector<std::shared_ptr<Pass>> idle_;
  std::optional<Weights> kept_;
};

}  // namespace echoline::engine
