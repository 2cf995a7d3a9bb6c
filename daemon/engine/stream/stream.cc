#include "engine/stream/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"
#include "config/pipeline.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kTogetherNs = 2'000'000'000;

}  // namespace

Stream::Stream(OpenedStream opened, v1::Stream definition, MemoryBudget& budget,
               std::uint32_t workers, ReattachBarrier reunion)
    : definition_(std::move(definition)),
      budget_(budget),
      core_(std::move(opened.core)),
      cache_(std::move(opened.cache)),
      factor_{core_->plan->spec().factor, core_->plan->rows_per_epoch()},
      pending_ranks_(core_->name),
      stages_(*core_, workers),
      reattach_barrier_(std::move(reunion)),
      slow_jobs_(core_->slow),
      rank_events_(core_->name) {}

Stream::~Stream() {
  stop(shm::kWriterEnded);
  for (const auto& pass : passes_) pass->give_back_memory();
  // A worker or the thread of I/O may be the last to let go of the core: by then there must
  // be nothing to join.
  core_->fetcher->stop();
  for (const ReattachBarrier::Returning& returning : reattach_barrier_.take_all()) {
    returning.reply(Status(Code::kNotFound, fmt::format("stream '{}' has ended", core_->name)));
  }
}

Status Stream::warm_up() {
  ECHOLINE_ASSIGN(auto pass, start_pass({.factors = FactorHistory(*core_->plan)}));
  passes_.push_back(pass);
  const auto& jobs = config::publish_step(definition_).jobs();
  return pending_ranks_.await_jobs(pass, {jobs.begin(), jobs.end()});
}

void Stream::attach(std::uint64_t connection, const shm::AttachRequest& request, const Peer& peer,
                    const ReplyFunction& reply, std::uint64_t now_ns) {
  if (reattach_barrier_.awaits(request, now_ns)) {
    reattach_barrier_.add({connection, request, peer, reply}, now_ns);
  } else {
    reply(find_and_join(connection, request, peer, now_ns));
  }
}

Status Stream::check_open() const {
  if (!closed_) return failure_;
  return Status(Code::kFailedPrecondition,
                fmt::format("stream '{}' was drained and takes no more trainers", core_->name));
}

Result<Attachment> Stream::find_and_join(std::uint64_t connection,
                                         const shm::AttachRequest& request, const Peer& peer,
                                         std::uint64_t now_ns) {
  ECHOLINE_TRY(check_open());
  Consumer consumer;
  consumer.connection = connection;
  consumer.peer = peer;
  consumer.attached_ns = now_ns;
  consumer.begin_ticks = process_begin(peer.pid);
  consumer.rank = request.rank;
  consumer.layout_minor = request.layout_minor;
  consumer.local_ranks = request.local_ranks == 0 ? request.world_size : request.local_ranks;
  consumer.job = {
      .name = std::string(shm::text(request.job)),
      .world_size = request.world_size,
      .batch_size = request.batch_size == 0 ? core_->ring_spec.batch_rows : request.batch_size};
  ECHOLINE_TRY(check_request(request, consumer.job, *core_));
  ECHOLINE_ASSIGN(const Start start, start_of(request, consumer.job));
  ECHOLINE_TRY(check_knows_changes(consumer, start));
  consumer.start = start.position;
  ECHOLINE_ASSIGN(const Place place, find_place(start, consumer));
  factor_.has_changed |= !start.factors.empty();
  consumer.pass = place.pass;
  consumer.reader = place.reader.id;
  // A job that comes back has nobody to begin with: its other ranks came with it, or died before.
  const bool begins = request.reattaching == 0 && !has_begun(consumer.job);
  pending_ranks_.note_rank(consumer, place.reader.first_sequence, begins, now_ns);
  log_info({"engine", core_->name}, "job {} rank {}/{} attached at epoch {} row {}",
           consumer.job.name, consumer.rank, consumer.job.world_size, consumer.start.epoch,
           consumer.start.row);
  tell_newcomer(consumer);
  consumers_.push_back(std::move(consumer));
  trainers_changed_ = true;
  leave_lanes_to_other_hosts();
  return attachment_of(consumers_.back(), place);
}

Attachment Stream::attachment_of(const Consumer& consumer, const Place& place) const {
  Attachment attachment;
  shm::AttachReply& reply = attachment.reply;
  reply.batch_size = consumer.job.batch_size;
  reply.first_sequence = place.reader.first_sequence;
  reply.epoch = consumer.start.epoch;
  reply.row = consumer.start.row;
  for (const plan::FactorChange& change : changes_of(consumer, consumer.start)) {
    reply.changes[reply.change_count++] = {change.block, change.factor, 0};
  }
  attachment.data_fd = place.pass->ring().data_fd();
  attachment.cursor_fd = place.reader.cursor_fd;
  return attachment;
}

// Jobs that are started together come together: only who waits longer is told for whom.
void Stream::tell_of_missing_jobs(std::uint64_t now_ns) {
  const std::string missing = pending_ranks_.missing_jobs();
  if (missing.empty()) return;
  const Status status(
      Code::kUnavailable,
      "no more come than the slots hold until these jobs have attached (publish.jobs): " + missing);
  for (Consumer& consumer : consumers_) {
    if (consumer.told_of_missing || now_ns < consumer.attached_ns + kTogetherNs) continue;
    consumer.told_of_missing = true;
    tell(consumer.connection, shm::kNoticePeers, status);
  }
}

// Before it is one of the consumers.
void Stream::tell_newcomer(const Consumer& consumer) {
  const auto namesake =
      std::find_if(consumers_.begin(), consumers_.end(), [&](const Consumer& other) {
        return other.job.name == consumer.job.name && other.job != consumer.job;
      });
  if (namesake != consumers_.end()) {
    const Job& one = consumer.job;
    const Job& other = namesake->job;
    const Status status(
        Code::kUnavailable,
        fmt::format("job {} is attached with world size {} and batch size {}, and with {} and {}: "
                    "these are two jobs, each gets all batches; name one of them otherwise",
                    one.name, one.world_size, one.batch_size, other.world_size, other.batch_size));
    log_warning({"engine", core_->name}, "{}", status.message());
    tell(consumer.connection, shm::kNoticePeers, status);
    tell(namesake->connection, shm::kNoticePeers, status);
  }
  const bool elsewhere =
      std::any_of(consumers_.begin(), consumers_.end(), [&](const Consumer& other) {
        return other.job == consumer.job && other.pass != consumer.pass && !other.moving;
      });
  if (elsewhere && !is_reading(*consumer.pass, consumer.job)) {
    tell(consumer.connection, shm::kNoticePeers,
         Status(Code::kUnavailable,
                fmt::format("the other ranks of job {} are elsewhere: rank {} has a pass of its "
                            "own, every batch is prepared once more",
                            consumer.job.name, consumer.rank)));
  }
}

bool Stream::has_readers(const Pass& pass) const {
  return std::any_of(consumers_.begin(), consumers_.end(),
                     [&](const Consumer& consumer) { return consumer.pass.get() == &pass; });
}

bool Stream::is_reading(const Pass& pass, const Job& job) const {
  return std::any_of(consumers_.begin(), consumers_.end(), [&](const Consumer& consumer) {
    return consumer.pass.get() == &pass && consumer.job == job && !consumer.moving;
  });
}

bool Stream::has_begun(const Job& job) const {
  return std::any_of(consumers_.begin(), consumers_.end(),
                     [&](const Consumer& consumer) { return consumer.job == job; });
}

void Stream::release_holds(std::uint64_t now_ns) {
  const auto late = pending_ranks_.release(
      now_ns, [this](const Pass& pass, const Job& job) { return is_reading(pass, job); });
  for (const auto& [job, status] : late) tell_job(job, consumers_, status, notices_);
}

bool Stream::withdraw(std::uint64_t connection) {
  if (reattach_barrier_.forget(connection)) return true;
  const auto consumer = std::find_if(consumers_.begin(), consumers_.end(),
                                     [&](const Consumer& c) { return c.connection == connection; });
  if (consumer == consumers_.end()) return false;
  take_off(consumer);
  return true;
}

void Stream::take_off(std::list<Consumer>::iterator consumer) {
  rank_events_.note_gone(*consumer, monotonic_ns());
  consumer->pass->ring().remove_reader(consumer->reader);
  consumers_.erase(consumer);
  trainers_changed_ = true;
  release_holds(0);
}

std::vector<TrainerNotice> Stream::tick(std::uint64_t now_ns) {
  charge_waits(now_ns);
  for (const ReattachBarrier::Returning& returning : reattach_barrier_.take_due(now_ns)) {
    returning.reply(find_and_join(returning.connection, returning.request, returning.peer, now_ns));
  }
  release_holds(now_ns);
  leave_lanes_to_other_hosts();
  tell_of_missing_jobs(now_ns);
  part_from_laggards(now_ns);
  retire_passes(/*parted_only=*/!closed_);
  for (TrainerNotice& telling : rank_events_.look(consumers_, now_ns)) {
    notices_.push_back(std::move(telling));
  }
  return std::exchange(notices_, {});
}

void Stream::charge_waits(std::uint64_t now_ns) {
  StageView view{.has_passes = !passes_.empty(), .has_trainers = !consumers_.empty()};
  if (charged_at_ns_ != 0) attached_ns_ += consumers_.size() * (now_ns - charged_at_ns_);
  charged_at_ns_ = now_ns;
  view.fetch_waits = core_->fetcher->counters().waiting > 0;
  for (const auto& pass : passes_) view.ring_full |= pass->is_held_up();
  for (auto consumer = consumers_.begin(); consumer != consumers_.end();) {
    const ring::ReaderView reader = consumer->pass->ring().view(consumer->reader);
    const WaitCause cause = consumer->pass->wait_cause();
    waited_ns_[static_cast<std::size_t>(cause)] += consumer->waits.charge(reader, now_ns, cause);
    if (reader.waiting_since_ns != 0 && cause == WaitCause::kFetch) {
      consumer->pass->note_wait_for_bytes();
    }
    view.trainer_waits |= reader.waiting_since_ns != 0;
    const auto current = consumer++;
    if (!reader.misbehaved) continue;
    tell(current->connection, shm::kNoticeDetached,
         Status(Code::kInvalidArgument, "the cursor page held claims that cannot be"));
    take_off(current);
  }
  stages_.tick(now_ns, view);
  if (rate_window_.due(now_ns)) rate_window_.note(totals(now_ns));
}

std::vector<std::uint64_t> Stream::stop(shm::WriterState state) {
  std::vector<std::uint64_t> connections;
  for (const Consumer& consumer : consumers_) connections.push_back(consumer.connection);
  for (const auto& pass : passes_) pass->stop(state);
  return connections;
}

bool Stream::drained() const {
  return std::all_of(consumers_.begin(), consumers_.end(), [](const Consumer& consumer) {
    ring::Ring& ring = consumer.pass->ring();
    return ring.view(consumer.reader).released >= ring.published();
  });
}

}  // namespace echoline::engine
