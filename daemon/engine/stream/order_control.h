// What can change of a stream's order while it runs: its echo factor, and the weights of its
// sources.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "engine/stream/attach_check.h"
#include "engine/stream/attendance.h"
#include "engine/stream/echo_factor.h"
#include "engine/stream/kept_order.h"
#include "engine/stream/pass_set.h"
#include "engine/stream/weight_control.h"

namespace echoline::engine {

// Under the registry's lock. What it refers to outlives it.
class OrderControl {
 public:
  OrderControl(const StreamCore& core, const v1::Stream& definition, Attendance& attendance,
               PassSet& passes, const ReattachBarrier& barrier)
      : core_(core),
        echo_factor_(core, attendance, passes, barrier),
        weights_(core, definition, attendance, passes, barrier) {}

  EchoFactor& echo_factor() { return echo_factor_; }
  WeightControl& weights() { return weights_; }
  const PresentFactor& present_factor() const { return echo_factor_.control().present(); }
  const Weights& present_weights() const { return weights_.present(); }

  // Trainers without a state begin with these, which an earlier daemon kept; what the stream cannot
  // have is ignored. Before the first pass.
  void begin_with(const OrderSettings& settings);
  // Of a pass that begins with this epoch, without a trainer's state.
  OrderHistory first_history(std::uint32_t epoch) const;
  // Of a job on several hosts, where none of it reads yet: nothing that was set here.
  OrderHistory configured_history(std::uint32_t epoch) const;
  // Grows with every change. A pass that was built for an older number has the wrong order.
  std::uint64_t changes() const { return echo_factor_.control().changes() + weights_.changes(); }
  // Whether a trainer that attaches can follow changes, if there are or will be any.
  Status check_attach(const Consumer& consumer, const Start& start) const;
  void note_start(const Start& start);

  // What the last change leaves to the owner. Passes with the earlier order that nobody reads:
  std::vector<std::shared_ptr<Pass>> take_idle();
  // To be kept over restarts.
  OrderSettings take_kept() {
    return {.factor = echo_factor_.take_kept(), .weights = weights_.take_kept()};
  }

 private:
  const StreamCore& core_;
  EchoFactor echo_factor_;
  WeightControl weights_;
};

}  // namespace echoline::engine
