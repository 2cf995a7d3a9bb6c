#include "engine/stream/factor_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "config/values.h"
#include "engine/stream/change_check.h"
#include "engine/stream/lane_choice.h"

namespace echoline::engine {
namespace {

Status cannot(const std::string& why) { return cannot_change(kFactorChange, why); }

// Where the last change begins, if there is a new one.
std::optional<FactorStart> last_start(const FactorHistory& before, const FactorHistory& after) {
  if (after.empty()) return std::nullopt;
  const shm::FactorLogEntry& last = after.entries().back();
  if (after.equals_from(last.epoch, before)) return std::nullopt;
  return FactorStart{
      .jobs = {}, .epoch = last.since_epoch, .block = last.block, .row = last.since_row - 1};
}

// A job with ranks on other hosts: their daemons decide for themselves.
Status check_hosts(const StreamCore& core, const std::string& job) {
  if (!core.echo_choice.empty()) {
    return Status(
        Code::kFailedPrecondition,
        fmt::format("job {} has ranks on other hosts, where the daemons may choose another "
                    "place for the echo of stream '{}'; write the step into the pipeline "
                    "(here it is {})",
                    job, core.name, core.echo_choice));
  }
  if (!core.auto_factor || core.agrees) return {};
  return Status(Code::kFailedPrecondition,
                fmt::format("job {} has ranks on other hosts, and with 'factor: auto' each host "
                            "would change the factor of stream '{}' at another place; name an "
                            "etcd, by which they agree, in daemon.etcd, or set a number as "
                            "echo.factor",
                            job, core.name));
}

// Rows of a whole epoch with this factor.
std::uint64_t epoch_rows_with(const plan::Plan& plan, std::uint32_t factor) {
  // Block 0 of epoch 0 represents any epoch: rows_after is the length of all that follow.
  FactorHistory whole(plan);
  return whole.append(0, {0, factor}, {}).rows_after;
}

// Before the first change. `factor: auto` begins with the largest one (AutoFactor), except where
// other hosts may have ranks of a job, which begin with the configured one everywhere.
std::uint32_t first_factor(const StreamCore& core) {
  const plan::PlanSpec& spec = core.plan->spec();
  return core.auto_factor && !core.agrees ? spec.factor_max : spec.factor;
}

}  // namespace

FactorControl::FactorControl(const StreamCore& core, const Consumers& consumers,
                             const PassSet& passes, const ReattachBarrier& barrier)
    : core_(core),
      consumers_(consumers),
      passes_(passes),
      barrier_(barrier),
      present_{.factor = core.plan->spec().factor,
               .rows = core.plan->rows_per_epoch(),
               .has_changed = core.auto_factor,
               .is_listed = core.auto_factor} {
  begin_with(first_factor(core));
}

void FactorControl::set_present(std::uint32_t factor) {
  present_ = {.factor = factor,
              .rows = epoch_rows_with(*core_.plan, factor),
              .has_changed = true,
              .is_listed = core_.auto_factor || factor != core_.plan->spec().factor};
}

void FactorControl::begin_with(std::uint32_t factor) {
  if (factor != present_.factor && check_bounds(factor).ok()) set_present(factor);
}

bool FactorControl::is_everywhere(std::uint32_t factor) const {
  const auto& members = passes_.members();
  return factor == present_.factor &&
         std::all_of(members.begin(), members.end(), [&](const PassSet::Member& member) {
           return member.pass->factors().factor() == factor;
         });
}

Status FactorControl::check_bounds(std::uint32_t factor) const {
  const plan::PlanSpec& spec = core_.plan->spec();
  if (spec.echo_point == plan::EchoPoint::kNone) {
    return Status(
        Code::kFailedPrecondition,
        fmt::format("stream '{}' has no echo step; add one (factor: 1, and the max that you may "
                    "want) and create the stream again",
                    core_.name));
  }
  if (spec.within_step) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("stream '{}' has the uses of a record in one batch (echo.spread: "
                              "step), so the factor decides what a batch contains and cannot "
                              "change; create the stream again with another factor",
                              core_.name));
  }
  if (factor >= 1000 && factor <= spec.factor_max) return {};
  return Status(
      Code::kInvalidArgument,
      fmt::format(
          "factor {}: stream '{}' takes 1 to {} (echo.max, or echo.factor where that is not "
          "set); a larger one needs another order: set echo.max and create the stream again",
          config::format_thousandths(factor), core_.name,
          config::format_thousandths(spec.factor_max)));
}

Status FactorControl::check(std::uint32_t factor, const Job* agreed) const {
  ECHOLINE_TRY(check_bounds(factor));
  // A repetition of the present factor is no change, and never refused.
  if (is_everywhere(factor)) return {};
  const std::uint64_t epoch_rows = epoch_rows_with(*core_.plan, factor);
  const bool drop = core_.ring_spec.last_batch == shm::kLastDrop;
  // No batch would ever be published again.
  if (drop && epoch_rows < core_.ring_spec.batch_rows) {
    return cannot("with it an epoch has less than a batch (last: drop)");
  }
  ECHOLINE_TRY(check_followers(core_.agrees ? kAgreedFactorChange : kFactorChange, consumers_,
                               barrier_, agreed));
  for (const Consumer& consumer : consumers_.all()) {
    ECHOLINE_TRY(check_batches(consumer, epoch_rows));
  }
  // Checked for all passes before apply() changes the first one: all or none.
  for (const PassSet::Member& member : passes_.members()) {
    ECHOLINE_TRY(check_factor_change(*member.pass));
  }
  return {};
}

Status FactorControl::check_batches(const Consumer& consumer, std::uint64_t epoch_rows) const {
  const std::string name = name_of(consumer);
  const std::uint64_t batch_rows = core_.ring_spec.batch_rows, own = consumer.job.batch_size;
  // The client checks this for its own epochs; this is the most that any length of an epoch can
  // need: at its end two batches are held, with dropped rows between them.
  const std::uint64_t slots = (2 * own + batch_rows - 1) / batch_rows + own / batch_rows + 2;
  if (reads_off_grid(consumer, core_) && slots > core_.slots) {
    return cannot(
        fmt::format("{} has batches of its own, {} rows from row {} on, which can need {} slots "
                    "at the end of an epoch of another length, and the stream has {}; raise "
                    "publish.slots",
                    name, own, consumer.start.row, slots, core_.slots));
  }
  if (core_.ring_spec.last_batch == shm::kLastDrop && epoch_rows < own) {
    return cannot("with it an epoch has less than a batch of " + name + " (last: drop)");
  }
  return {};
}

Result<std::vector<FactorSwitch>> FactorControl::apply(
    std::uint32_t factor, const std::vector<std::shared_ptr<Pass>>& agreed,
    const MakeAgreed& make) {
  // Before the passes: trainers that attach later find the present factor, in whichever pass.
  set_present(factor);
  ++changes_;
  // One entry for each pass; a pass that has the factor already is left out.
  std::vector<FactorSwitch> switches;
  for (const PassSet::Member& member : passes_.members()) {
    Pass& pass = *member.pass;
    // Kept for first_changed_row, which compares both orders without the lock.
    FactorHistory before = pass.factors();
    std::optional<FactorStart> start;
    if (std::find(agreed.begin(), agreed.end(), member.pass) == agreed.end()) {
      start = change_factor(pass, factor, readers_of(pass, consumers_, core_));
    } else {
      ECHOLINE_TRY(make(pass));
      start = last_start(before, pass.factors());
    }
    if (!start.has_value()) continue;
    log_info({"engine", core_.name}, "echo factor {} from block {} of epoch {} on",
             config::format_thousandths(factor), start->block, start->epoch);
    start->jobs = jobs_of(pass, consumers_);
    switches.push_back({*std::move(start), std::move(before), pass.factors()});
  }
  return switches;
}

Status FactorControl::check_attach(const Consumer& consumer, const Start& start) const {
  if (consumer.has_other_hosts()) {
    ECHOLINE_TRY(check_hosts(core_, consumer.job.name));
  }
  // Without changes an old library is right about every row.
  const bool any = present_.has_changed || !start.history.factors.empty();
  return any ? check_layout(kFactorChange, consumer, core_.name) : Status();
}

}  // namespace echoline::engine
