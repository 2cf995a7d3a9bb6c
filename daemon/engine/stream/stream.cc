#include "engine/stream/stream.h"

#include <fmt/format.h>

#include <utility>

#include "config/pipeline.h"
#include "engine/stats/verdict.h"
#include "engine/stream/stream_report.h"

namespace echoline::engine {
namespace {

Status drained(const std::string& name) {
  return {Code::kFailedPrecondition,
          fmt::format("stream '{}' was drained and takes no more trainers", name)};
}

Status prepared_for_others(const std::string& name) {
  return {Code::kFailedPrecondition,
          fmt::format("stream '{}' is prepared here for other hosts (daemon.serve): attach to the "
                      "daemon of a host",
                      name)};
}

}  // namespace

Stream::Stream(OpenedStream opened, v1::Stream definition, std::uint32_t workers,
               ReattachBarrier reattach_barrier)
    : definition_(std::move(definition)),
      core_(std::move(opened.core)),
      cache_(std::move(opened.cache)),
      attendance_(*core_, passes_, workers),
      reattach_barrier_(std::move(reattach_barrier)),
      admission_(*core_, attendance_.consumers(), passes_, attendance_.pending_ranks()),
      order_(*core_, definition_, attendance_, passes_, reattach_barrier_),
      shared_job_(*core_, attendance_.consumers(), order_),
      job_splitter_(*core_, attendance_.consumers(), passes_, attendance_.pending_ranks()),
      attach_queue_(
          admission_, order_, passes_,
          [this](Consumer consumer, const JoinedPass& joined, const AttachCall& call,
                 const Start& start) { return place(std::move(consumer), joined, call, start); }) {}

Stream::~Stream() {
  for (const PassSet::Member& member : passes_.members()) retire_pass(*member.pass);
  // A worker or the fetcher's thread may be the last to drop the core: by then the fetcher's thread
  // must have ended, as it cannot join itself.
  core_->fetchers->stop();
  const Status ended(Code::kNotFound, fmt::format("stream '{}' has ended", core_->name));
  for (const AttachCall& call : reattach_barrier_.take_all()) call.reply(ended);
  attach_queue_.refuse_all(ended);
}

Status Stream::warm_up(BuiltPass pass, std::uint64_t now_ns) {
  passes_.add(pass.take(), now_ns);
  const auto& jobs = config::publish_step(definition_).jobs();
  return attendance_.pending_ranks().await_jobs(passes_.members().front().pass,
                                                {jobs.begin(), jobs.end()});
}

Status Stream::check_open() const {
  if (closed_) return drained(core_->name);
  return failure_.ok() && core_->serves ? prepared_for_others(core_->name) : failure_;
}

void Stream::set_failed(const Status& status, std::uint64_t now_ns) {
  if (failure_.ok()) failure_ = status;
  admit_waiting(now_ns);
}

void Stream::close(std::uint64_t now_ns) {
  closed_ = true;
  admit_waiting(now_ns);
}

void Stream::attach(AttachCall call, std::uint64_t now_ns) {
  const bool returns = reattach_barrier_.collects(call.request, now_ns);
  if (returns) return reattach_barrier_.add(std::move(call), now_ns);
  attach_queue_.add(std::move(call));
  admit_waiting(now_ns);
}

void Stream::admit_waiting(std::uint64_t now_ns) {
  // One pass at a time. A closed stream refuses at once, even while a pass is under construction.
  const Status open = check_open();
  if (construction_.has_value() && open.ok()) return;
  std::optional<Pass::Options> needed = attach_queue_.admit(open, now_ns);
  if (!needed.has_value()) return;
  // First, so that their memory is free when the new pass reserves its own.
  retire(passes_.take_idle([this](const Pass& pass) { return attendance_.is_unread(pass); }));
  construction_ = {.order_changes = order_.changes(), .connection = attach_queue_.first()};
  work_.build = std::move(needed);
}

void Stream::pass_built(Result<BuiltPass> built, std::uint64_t now_ns) {
  const std::optional<PassConstruction> purpose = std::exchange(construction_, {});
  if (!purpose.has_value()) return;
  // The order was changed meanwhile: a trainer that still needs a pass requests another one.
  const bool outdated = purpose->order_changes != order_.changes();
  if (purpose->split.has_value()) {
    if (!outdated) finish_split(*purpose->split, std::move(built), now_ns);
  } else if (!built.ok() && attach_queue_.first() == purpose->connection) {
    attach_queue_.admit_without_pass(check_open(), built.status(), now_ns);
  } else if (built.ok() && !outdated && !attach_queue_.empty() && check_open().ok()) {
    // Also if its trainer has left: the next one in the queue may have its position.
    passes_.add(built->take(), now_ns);
  }
  admit_waiting(now_ns);
  // A pass that nobody took is stopped by its owner, not here.
  if (built.ok()) {
    if (std::shared_ptr<Pass> left = built->take()) work_.retired.push_back(std::move(left));
  }
}

Attachment Stream::place(Consumer consumer, const JoinedPass& joined, const AttachCall& call,
                         const Start& start) {
  order_.note_start(start);
  consumer.pass = joined.pass;
  // First: it may make changes that belong to the attachment's list.
  shared_job_.note_joined(consumer, call.request.reattaching != 0);
  Attachment attachment = Admission::attachment_of(consumer, joined);
  attendance_.add(std::move(consumer), joined, call.request.reattaching != 0, work_.notices);
  return attachment;
}

bool Stream::withdraw(std::uint64_t connection, std::uint64_t now_ns) {
  if (reattach_barrier_.withdraw(connection)) return true;
  if (attach_queue_.withdraw(connection)) return true;
  return attendance_.remove(connection, now_ns, work_.notices);
}

void Stream::tick(std::uint64_t now_ns) {
  // Measured first: waits are charged to the state before this tick changes anything.
  attendance_.measure(now_ns, work_.notices);
  for (AttachCall& call : reattach_barrier_.take_due(now_ns)) attach_queue_.add(std::move(call));
  admit_waiting(now_ns);
  attendance_.tick(now_ns, work_.notices);
  shared_job_.tick();
  if (check_open().ok()) order_.echo_factor().follow_ratio(now_ns);
  request_split(now_ns);
  retire(closed_ ? passes_.take_idle(is_idle_) : passes_.take_surplus(is_idle_, now_ns));
}

void Stream::request_split(std::uint64_t now_ns) {
  std::optional<JobSplitter::Request> split = job_splitter_.look(now_ns);
  if (!split.has_value() || construction_.has_value() || !check_open().ok()) return;
  // Their ranks stay where they are while hosts agree on a change.
  if (shared_job_.is_holding()) return;
  work_.build = split->options;
  construction_ = {.order_changes = order_.changes(), .split = std::move(split)};
}

void Stream::finish_split(const JobSplitter::Request& request, Result<BuiltPass> built,
                          std::uint64_t now_ns) {
  if (!built.ok()) return job_splitter_.note_refused(request, built.status(), now_ns);
  const std::shared_ptr<Pass> pass = built->take();
  // Hosts have begun to agree meanwhile.
  const bool stays = !check_open().ok() || shared_job_.is_holding();
  if (stays || !job_splitter_.split(request, pass, now_ns, work_.notices)) {
    work_.retired.push_back(pass);
  } else if (core_->slow.action == SlowPolicy::Action::kDetach) {
    work_.ended = request.pass;
  }
}

StreamWork Stream::take_work() {
  retire(order_.take_idle());
  work_.kept = order_.take_kept();
  return std::exchange(work_, {});
}

std::shared_ptr<Pass> Stream::give_up_idle_pass() {
  std::shared_ptr<Pass> pass = passes_.take_one_idle(is_idle_);
  if (pass != nullptr) job_splitter_.forget(*pass);
  return pass;
}

void Stream::retire(std::vector<std::shared_ptr<Pass>> passes) {
  for (std::shared_ptr<Pass>& pass : passes) {
    attendance_.pending_ranks().forget(*pass);
    job_splitter_.forget(*pass);
    work_.retired.push_back(std::move(pass));
  }
}

StreamStats Stream::stats(std::uint64_t now_ns) const {
  StreamStats stats;
  report_definition(*core_, definition_, order_.present_factor(), order_.present_weights(), stats);
  report_counters(*core_, stats);
  stats.state = !failure_.ok() ? "failed" : closed_ ? "drained" : "ready";
  stats.error = failure_.message();
  stats.slow = job_splitter_.counts();
  attendance_.meter().report(stats, now_ns);
  if (core_->agrees) stats.awaits_hosts = passes_.any_held();
  stats.verdict = verdict(stats);
  return stats;
}

std::map<std::string, std::string> Stream::states() const {
  return states_of(*core_, attendance_.consumers());
}

std::vector<Trainer> Stream::trainers() const {
  return trainers_of(*core_, reattach_barrier_.expected(), attendance_.consumers());
}

}  // namespace echoline::engine
