#include "engine/stream/weight_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "base/sanitize_name.h"
#include "config/names.h"
#include "config/pipeline.h"
#include "config/values.h"
#include "engine/open/memory_plan.h"
#include "engine/stream/change_check.h"

namespace echoline::engine {
namespace {

// Both sizes are estimates, which also depend on how even the shares are.
constexpr std::uint64_t kSlackBytes = 1 << 20;

std::string text_of(const Weights& weights) {
  std::vector<std::string> texts;
  for (const std::uint32_t weight : weights) texts.push_back(config::format_thousandths(weight));
  return config::join_names(texts);
}

// As the weights of whole epochs.
Status check_plan(const plan::Plan& plan, const Weights& weights) {
  const plan::WeightChange change{.row = 0, .weights = weights};
  return plan.check_weights({&change, 1});
}

// Whether the windows that passes have reserved memory for have room for such weights.
Status check_window_memory(const StreamCore& core, const Weights& weights) {
  const std::uint64_t bytes = window_floor_bytes(core.window_parts, *core.plan, weights);
  if (bytes <= core.window_floor_bytes + std::max(core.window_floor_bytes / 16, kSlackBytes)) {
    return {};
  }
  return Status(
      Code::kResourceExhausted,
      fmt::format("with these weights the records of the echo window can take {}, and {} are "
                  "reserved for those of the configuration; create the stream again with weights "
                  "that give larger records their share, or with a smaller echo.window",
                  config::format_bytes(bytes), config::format_bytes(core.window_floor_bytes)));
}

// Where the change begins, if the pass lacked it.
Result<std::optional<WeightStart>> make_agreed(Pass& pass, const WeightControl::MakeAgreed& make) {
  const WeightHistory before = pass.history().weights;
  ECHOLINE_TRY(make(pass));
  const WeightHistory after = pass.history().weights;
  std::optional<WeightStart> start;
  if (after.empty() || after.equals_from(after.entries().back().epoch, before)) return start;
  start = {.jobs = {}, .epoch = after.entries().back().epoch, .row = after.entries().back().row};
  return start;
}

}  // namespace

WeightControl::WeightControl(const StreamCore& core, const v1::Stream& definition,
                             Attendance& attendance, PassSet& passes,
                             const ReattachBarrier& barrier)
    : core_(core),
      definition_(definition),
      attendance_(attendance),
      passes_(passes),
      barrier_(barrier),
      present_(WeightHistory(*core.plan).weights()) {}

void WeightControl::begin_with(const Weights& weights) {
  if (weights == present_ || !check_plan(*core_.plan, weights).ok()) return;
  present_ = weights;
  has_changed_ = true;
}

Result<Weights> WeightControl::with(const NamedWeights& changed, const Weights& base) const {
  const v1::Mix* const mix = config::mix_step(definition_);
  if (mix == nullptr) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("stream '{}' has no step 'mix', so it has no weights", core_.name));
  }
  if (changed.empty()) return Status(Code::kInvalidArgument, "no weights given");
  std::vector<std::string> names;
  for (const v1::MixSource& source : mix->sources()) names.push_back(source.name());
  Weights weights = base;
  for (const auto& [name, weight] : changed) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      return Status(Code::kInvalidArgument,
                    fmt::format("stream '{}' has no source '{}'{}; its sources: {}", core_.name,
                                sanitize_name(name), config::did_you_mean(name, names),
                                config::join_names(names)));
    }
    weights[static_cast<std::size_t>(found - names.begin())] = weight;
  }
  return weights;
}

bool WeightControl::is_everywhere(const Weights& weights) const {
  return weights == present_ && std::ranges::all_of(passes_.members(), [&](const auto& member) {
           return member.pass->history().weights.weights() == weights;
         });
}

Status WeightControl::check(const Weights& weights, const Job* agreed) const {
  ECHOLINE_TRY(check_plan(*core_.plan, weights));
  ECHOLINE_TRY(check_window_memory(core_, weights));
  ECHOLINE_TRY(check_followers(core_.agrees ? kAgreedWeightChange : kWeightChange,
                               attendance_.consumers(), barrier_, agreed));
  // Checked for all passes before apply() changes the first one: all or none.
  for (const PassSet::Member& member : passes_.members()) {
    ECHOLINE_TRY(check_weight_change(*member.pass));
  }
  return {};
}

Result<std::vector<WeightStart>> WeightControl::set(const NamedWeights& changed) {
  ECHOLINE_ASSIGN(const Weights weights, with(changed, present_));
  // A repetition of the present weights is no change, and never refused.
  if (is_everywhere(weights)) return std::vector<WeightStart>();
  ECHOLINE_TRY(check(weights));
  return apply(weights);
}

Result<std::vector<WeightStart>> WeightControl::apply(
    const Weights& weights, const std::vector<std::shared_ptr<Pass>>& agreed,
    const MakeAgreed& make) {
  if (weights != present_) {
    std::ranges::move(engine::take_idle(passes_, attendance_), std::back_inserter(idle_));
  }
  kept_ = weights;
  // Before the passes: trainers that attach later find the present weights, in whichever pass.
  present_ = weights;
  has_changed_ = true;
  ++changes_;
  std::vector<WeightStart> starts;
  const Consumers& consumers = attendance_.consumers();
  for (const PassSet::Member& member : passes_.members()) {
    Pass& pass = *member.pass;
    const bool is_agreed = std::ranges::find(agreed, member.pass) != agreed.end();
    std::optional<WeightStart> start;
    if (is_agreed) {
      ECHOLINE_ASSIGN(start, make_agreed(pass, make));
    } else {
      start = change_weights(pass, weights, readers_of(pass, consumers, core_));
    }
    if (!start.has_value()) continue;
    log_info({"engine", core_.name}, "weights {} from row {} of epoch {} on, counted without echo",
             text_of(weights), start->row, start->epoch);
    start->jobs = jobs_of(pass, consumers);
    starts.push_back(*std::move(start));
  }
  return starts;
}

Status WeightControl::check_attach(const Consumer& consumer, const Start& start) const {
  // Without changes an old library is right about every row.
  const bool any = has_changed_ || !start.history.weights.empty();
  return any ? check_layout(kWeightChange, consumer, core_.name) : Status();
}

}  // namespace echoline::engine
