// Another echo factor while a stream runs (semantics.md, Changing the factor): all of its passes
// take part in it, or none.

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "config/values.h"
#include "engine/stream/stream.h"

namespace echoline::engine {
namespace {

// The first layout of rings that tells trainers of changes.
constexpr std::uint32_t kLayoutMinorTold = 2;

Status cannot(std::string why) {
  return Status(Code::kFailedPrecondition,
                "the echo factor cannot be changed now: " + std::move(why));
}

}  // namespace

Status Stream::check_factor(std::uint32_t factor) const {
  const plan::PlanSpec& spec = core_->plan->spec();
  if (spec.echo_point == plan::EchoPoint::kNone) {
    return Status(
        Code::kFailedPrecondition,
        fmt::format(
            "stream '{}' has no echo step; add one (factor: 1, and the max that you may want) "
            "and create the stream anew",
            core_->name));
  }
  if (factor >= 1000 && factor <= spec.factor_max) return {};
  return Status(
      Code::kInvalidArgument,
      fmt::format(
          "factor {}: stream '{}' takes 1 to {} (echo.max, or echo.factor where that is not "
          "set); a larger one needs another order: set echo.max and create the stream anew",
          config::format_thousandths(factor), core_->name,
          config::format_thousandths(spec.factor_max)));
}

// All ranks of a job must find the same change at the same place, and batches after it.
Status Stream::check_trainers_follow(std::uint64_t epoch_rows) const {
  const bool drop = core_->ring_spec.last_batch == shm::kLastDrop;
  if (drop && epoch_rows < core_->ring_spec.batch_rows) {
    return cannot("with it an epoch has less than a batch (last: drop)");
  }
  if (reattach_barrier_.is_open()) {
    return cannot("trainers of the daemon before are still awaited; ask again in some seconds");
  }
  for (const Consumer& consumer : consumers_) {
    const std::string who = fmt::format("job {} rank {}", consumer.job.name, consumer.rank);
    if (consumer.moving) {
      return cannot(who + " is on its way to another pass; ask again in some seconds");
    }
    if (consumer.local_ranks < consumer.job.world_size) {
      return cannot(
          fmt::format("{} has ranks on other hosts, where the change would begin at "
                      "another block; save a state, and start the job anew after the "
                      "factor was set on every host",
                      who));
    }
    const auto same_job = [&](const Consumer& other) {
      return other.job == consumer.job && other.pass != consumer.pass;
    };
    if (std::any_of(consumers_.begin(), consumers_.end(), same_job)) {
      return cannot(
          fmt::format("the ranks of job {} read in different passes, where the change would begin "
                      "at different blocks; start them together",
                      consumer.job.name));
    }
    const std::uint64_t batch_rows = core_->ring_spec.batch_rows, own = consumer.job.batch_size;
    // The most that a loader's own check can come to, whatever the epoch's length: at its end two
    // batches are held with dropped rows between them.
    const std::uint64_t slots = (2 * own + batch_rows - 1) / batch_rows + own / batch_rows + 2;
    if (reads_off_grid(consumer) && slots > core_->slots) {
      return cannot(
          fmt::format("{} has batches of its own, {} rows from row {} on, which can need {} slots "
                      "at the end of an epoch of another length, and the stream has {}; raise "
                      "publish.slots",
                      who, own, consumer.start.row, slots, core_->slots));
    }
    if (drop && epoch_rows < consumer.job.batch_size) {
      return cannot("with it an epoch has less than a batch of " + who + " (last: drop)");
    }
    if (consumer.layout_minor < kLayoutMinorTold) {
      return cannot(who +
                    " has a client library of an older release, whose states would not tell of "
                    "the change; install this daemon's");
    }
  }
  for (const auto& pass : passes_) ECHOLINE_TRY(pass->check_factor_change());
  return {};
}

Result<std::vector<FactorStart>> Stream::set_echo(std::uint32_t factor) {
  ECHOLINE_TRY(check_open());
  ECHOLINE_TRY(check_factor(factor));
  if (has_everywhere(factor)) return std::vector<FactorStart>();
  FactorHistory whole(*core_->plan);
  const std::uint64_t rows = whole.append(0, {0, factor}, {}).rows_after;
  ECHOLINE_TRY(check_trainers_follow(rows));
  // What is ready for nobody in particular would only be in the next trainer's way; where the jobs
  // of publish.jobs are awaited it stays.
  if (factor != factor_.factor && pending_ranks_.missing_jobs().empty()) {
    retire_passes(/*parted_only=*/false);
  }
  factor_ = {factor, rows, true};
  std::vector<FactorStart> starts;
  for (const auto& pass : passes_) {
    std::vector<std::string> jobs;
    std::optional<FactorStart> start = pass->change_factor(factor, readers_of(*pass, jobs));
    if (!start.has_value()) continue;
    log_info({"engine", core_->name}, "echo factor {} from block {} of epoch {} on",
             config::format_thousandths(factor), start->block, start->epoch);
    start->jobs = std::move(jobs);
    starts.push_back(*std::move(start));
  }
  return starts;
}

bool Stream::has_everywhere(std::uint32_t factor) const {
  return factor == factor_.factor &&
         std::all_of(passes_.begin(), passes_.end(),
                     [&](const auto& pass) { return pass->factors().factor() == factor; });
}

Pass::Readers Stream::readers_of(const Pass& pass, std::vector<std::string>& jobs) const {
  Pass::Readers readers{.batch_rows_most = core_->ring_spec.batch_rows, .foremost = {}};
  for (const Consumer& consumer : consumers_) {
    if (consumer.pass.get() != &pass) continue;
    if (consumer.rank == 0) jobs.push_back(consumer.job.name);
    readers.batch_rows_most =
        std::max<std::uint64_t>(readers.batch_rows_most, consumer.job.batch_size);
    // A row number counts the rows of the order that its state was saved in.
    if (consumer.start.row > 0) readers.foremost = std::max(readers.foremost, consumer.start);
  }
  return readers;
}

// Its states would lack them, and lead a later run astray.
Status Stream::check_knows_changes(const Consumer& consumer, const Start& start) const {
  const bool any = factor_.has_changed || !start.factors.empty();
  if (!any || consumer.layout_minor >= kLayoutMinorTold) return {};
  return Status(Code::kFailedPrecondition,
                fmt::format("the echo factor of stream '{}' was changed, which this client library "
                            "of an older release (ring layout {}.{}) knows nothing of; install the "
                            "one of the daemon's release",
                            core_->name, shm::kLayoutMajor, consumer.layout_minor));
}

std::vector<plan::FactorChange> Stream::changes_of(const Consumer& consumer,
                                                   plan::Position position) const {
  return consumer.pass->factors().as_of(position).list(position.epoch);
}

}  // namespace echoline::engine
