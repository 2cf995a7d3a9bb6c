// The echo factor of a stream: what an operator sets, or what follows R (`factor: auto`).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "engine/stream/attendance.h"
#include "engine/stream/auto_factor.h"
#include "engine/stream/factor_control.h"
#include "engine/stream/pass_set.h"

namespace echoline::engine {

// Under the registry's lock. What it refers to outlives it.
class EchoFactor {
 public:
  EchoFactor(const StreamCore& core, Attendance& attendance, PassSet& passes,
             const ReattachBarrier& barrier);

  FactorControl& control() { return control_; }
  const FactorControl& control() const { return control_; }

  // As FactorControl::begin_with, with what an earlier daemon kept.
  void begin_with(std::uint32_t factor);
  // The first trainer of this daemon may bring a state, and with it the factor that an earlier
  // daemon measured: with `factor: auto` it is the present one then, if no factor was kept.
  void note_start(const Start& start);
  // As FactorControl::check and apply. kFailedPrecondition if the daemon sets the factor itself.
  Result<std::vector<FactorSwitch>> set(std::uint32_t factor);
  // At every tick, while trainers are admitted: changes the factor of `factor: auto` if R says so.
  void follow_ratio(std::uint64_t now_ns);
  // The factor that `factor: auto` would change to, R being this, if the daemon sets the factor.
  std::optional<std::uint32_t> wanted_by_ratio(double ratio, double error, std::uint64_t now_ns);
  void note_refused(std::uint64_t now_ns) { auto_factor_.note_refused(now_ns); }
  const RatioMeter& ratio() const { return attendance_.meter().ratio(); }
  // Makes a change after FactorControl::check; see FactorControl::apply.
  Result<std::vector<FactorSwitch>> apply(std::uint32_t factor,
                                          const std::vector<std::shared_ptr<Pass>>& agreed = {},
                                          const FactorControl::MakeAgreed& make = {});

  // What the last change leaves to the owner. Passes with the earlier factor that nobody reads:
  std::vector<std::shared_ptr<Pass>> take_idle() { return std::exchange(idle_, {}); }
  // A factor to be kept over restarts.
  std::optional<std::uint32_t> take_kept() { return std::exchange(kept_, {}); }

 private:
  Result<std::vector<FactorSwitch>> change(std::uint32_t factor);

  const StreamCore& core_;
  Attendance& attendance_;
  PassSet& passes_;
  FactorControl control_;
  AutoFactor auto_factor_;
  bool is_guess_;  // the factor is not from an earlier daemon, and nobody has attached
  std::vector<std::shared_ptr<Pass>> idle_;
  std::optional<std::uint32_t> kept_;
};

}  // namespace echoline::engine
