#include "engine/stream/echo_factor.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "engine/stream/change_check.h"

namespace echoline::engine {

EchoFactor::EchoFactor(const StreamCore& core, Attendance& attendance, PassSet& passes,
                       const ReattachBarrier& barrier)
    : core_(core),
      attendance_(attendance),
      passes_(passes),
      control_(core, attendance.consumers(), passes, barrier),
      auto_factor_(core.plan->spec().factor_max),
      is_guess_(core.auto_factor && !core.agrees) {}

void EchoFactor::begin_with(std::uint32_t factor) {
  control_.begin_with(factor);
  is_guess_ = false;
}

void EchoFactor::note_start(const Start& start) {
  control_.note_start(start);
  if (!std::exchange(is_guess_, false)) return;
  const FactorHistory& brought = start.history.factors;
  if (brought.empty() || brought.factor() == control_.present().factor) return;
  begin_with(brought.factor());
}

Result<std::vector<FactorSwitch>> EchoFactor::set(std::uint32_t factor) {
  if (!core_.auto_factor) return change(factor);
  return Status(Code::kFailedPrecondition,
                fmt::format("the daemon sets the echo factor of stream '{}' (echo.factor: auto); "
                            "create the stream again with a number to set it yourself",
                            core_.name));
}

std::optional<std::uint32_t> EchoFactor::wanted_by_ratio(double ratio, double error,
                                                         std::uint64_t now_ns) {
  if (!core_.auto_factor || attendance_.consumers().all().empty()) return std::nullopt;
  const std::uint32_t present = control_.present().factor;
  return auto_factor_.look(now_ns, {.factor = present,
                                    .is_everywhere = control_.is_everywhere(present),
                                    .ratio = ratio,
                                    .error = error});
}

void EchoFactor::follow_ratio(std::uint64_t now_ns) {
  if (!core_.auto_factor) return;
  const auto& all = attendance_.consumers().all();
  const auto agrees = [](const Consumer& consumer) { return consumer.has_other_hosts(); };
  // The hosts of a job agree, through OrderAgreement.
  if (std::any_of(all.begin(), all.end(), agrees)) return;
  const std::optional<std::uint32_t> wanted =
      wanted_by_ratio(ratio().ratio(), ratio().error(), now_ns);
  if (!wanted.has_value()) return;
  const auto changed = change(*wanted);
  if (changed.ok()) return;
  auto_factor_.note_refused(now_ns);
  log_info({"engine", core_.name}, "echo factor: auto: {}", changed.status().message());
}

Result<std::vector<FactorSwitch>> EchoFactor::change(std::uint32_t factor) {
  ECHOLINE_TRY(control_.check(factor));
  if (control_.is_everywhere(factor)) return std::vector<FactorSwitch>();
  return apply(factor);
}

Result<std::vector<FactorSwitch>> EchoFactor::apply(
    std::uint32_t factor, const std::vector<std::shared_ptr<Pass>>& agreed,
    const FactorControl::MakeAgreed& make) {
  if (factor != control_.present().factor) {
    std::ranges::move(engine::take_idle(passes_, attendance_), std::back_inserter(idle_));
  }
  kept_ = factor;
  return control_.apply(factor, agreed, make);
}

}  // namespace echoline::engine
