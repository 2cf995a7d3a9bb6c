#include "engine/stream/admission.h"

#include <fmt/format.h>

#include <utility>

#include "base/process.h"
#include "engine/stream/lane_choice.h"

namespace echoline::engine {

// All members but pass and reader, which the join fills in.
Result<Consumer> Admission::consumer_of(const AttachCall& call, std::uint64_t now_ns) const {
  const shm::AttachRequest& request = call.request;
  Consumer consumer;
  consumer.connection = call.connection;
  consumer.peer = call.peer;
  consumer.attached_ns = now_ns;
  // 0 where the process belongs to another container and cannot be seen.
  consumer.begin_ticks = process_begin(call.peer.pid);
  consumer.rank = request.rank;
  consumer.layout_minor = request.layout_minor;
  // Unknown: the daemon waits for all ranks of the job.
  consumer.says_local_ranks = request.local_ranks != 0;
  consumer.local_ranks = consumer.says_local_ranks ? request.local_ranks : request.world_size;
  consumer.job = {
      .name = std::string(shm::text(request.job)),
      .world_size = request.world_size,
      .batch_size = request.batch_size == 0 ? core_.ring_spec.batch_rows : request.batch_size};
  ECHOLINE_TRY(check_request(request, consumer.job, core_));
  return consumer;
}

plan::Position Admission::current_position(const Pass& foremost, const Pass& factors,
                                           const Job& job) {
  const plan::Position latest = foremost.next_position();
  // The epoch's last batch may be short.
  // Rounded up, so that the job's batches have the same borders as in a job that began at row 0.
  const std::uint64_t row = (latest.row + job.batch_size - 1) / job.batch_size * job.batch_size;
  if (row < factors.factors().rows(latest.epoch)) return {latest.epoch, row};
  // No batch of the job begins in what is left of this epoch.
  return {latest.epoch + 1, 0};
}

Admission::Wish Admission::wish_of(const shm::AttachRequest& request, const Job& job) const {
  // All ranks of a job have the same changes.
  const Pass* of_job = consumers_.pass_of(job);
  if (request.join != shm::kJoinCurrent && request.join != shm::kJoinNextEpoch) {
    // `join: start`: epoch 0, row 0.
    return {{}, of_job};
  }
  // All ranks of a job begin where its first one did.
  if (const auto begun = pending_ranks_.start_of(job)) return {*begun, of_job};
  const Pass* foremost =
      passes_.foremost([&](const Pass& pass) { return consumers_.has_readers(pass); });
  // Nobody reads yet: `current` and `next epoch` are the beginning, too.
  if (foremost == nullptr) return {{}, of_job};
  const Pass* like = of_job == nullptr ? foremost : of_job;
  if (request.join == shm::kJoinNextEpoch) {
    return {{foremost->next_position().epoch + 1, 0}, like};
  }
  return {current_position(*foremost, *like, job), like};
}

Result<Start> Admission::start_of(const shm::AttachRequest& request, const Job& job,
                                  const OrderControl& order) const {
  Start start{{}, OrderHistory(*core_.plan), false};
  plan::Position position{request.epoch, request.row};
  if (request.join == shm::kJoinPosition) {
    ECHOLINE_ASSIGN(start.history, history_of(request, core_));
    // The order may have changed since the state was saved, for other ranks that came with it.
    const Pass* of_job = consumers_.pass_of(job);
    // Only if the state agrees with what this pass did: the rank then reads on with its job.
    if (of_job != nullptr && of_job->history().follows(position, start.history, /*strict=*/false)) {
      start.history = of_job->history();
    }
  } else {
    const Wish wish = wish_of(request, job);
    // A wish, not a state: with nobody reading, any pass at the position has the right order.
    position = wish.position;
    // A job on several hosts begins with the configured order, as no host knows what was set on
    // the others.
    const bool has_other_hosts = request.local_ranks != 0 && request.local_ranks < job.world_size;
    const Pass* like = has_other_hosts ? consumers_.pass_of(job) : wish.same_history_as;
    start.any_history = like == nullptr && !has_other_hosts;
    if (like != nullptr) {
      start.history = like->history();
    } else {
      // Where no other trainer decides, a new pass begins with what was set last.
      start.history = has_other_hosts ? order.configured_history(position.epoch)
                                      : order.first_history(position.epoch);
    }
    if (!start.history.knows(position.epoch)) {
      return Status(Code::kFailedPrecondition,
                    fmt::format("job {} began in epoch {}, and how the order changed before "
                                "its present epochs is not kept: this rank would get other "
                                "batches than the others had; start it from a state of theirs",
                                job.name, position.epoch));
    }
  }
  ECHOLINE_ASSIGN(start.position, settle_position(position, start.history.factors, core_));
  return start;
}

bool Admission::needs_tails(const Consumer& consumer) const {
  return core_.ring_spec.last_batch == shm::kLastDrop && reads_off_grid(consumer, core_);
}

// `history` refers to `start`, which the caller keeps until the join is done.
PassSet::Wanted Admission::wanted_by(const Consumer& consumer, const Start& start) const {
  return {.position = start.position,
          .history = start.any_history ? nullptr : &start.history,
          .only_same_history = consumer.has_other_hosts(),
          .tails = needs_tails(consumer),
          .lanes = lanes_of(consumer, core_),
          .also_split_off = false,
          .has_own_job = [this, job = consumer.job](const Pass& pass) {
            return consumers_.is_reading(pass, job);
          }};
}

Pass::Options Admission::new_pass_for(const Consumer& consumer, const Start& start) const {
  return {.start = start.position,
          .history = start.history,
          .held = core_.agrees && consumer.has_other_hosts(),
          .tails = needs_tails(consumer)};
}

Attachment Admission::attachment_of(const Consumer& consumer, const JoinedPass& joined) {
  Attachment attachment;
  shm::AttachReply& reply = attachment.reply;
  reply.batch_size = consumer.job.batch_size;
  reply.first_sequence = joined.reader.first_sequence;
  reply.epoch = consumer.start.epoch;
  reply.row = consumer.start.row;
  // As of the start: later changes reach the trainer through the ring's log.
  const FactorHistory factors = joined.pass->factors().as_of(consumer.start);
  for (const plan::FactorChange& change : factors.list(consumer.start.epoch)) {
    // A list has at most kFactorChangesMax changes, because Plan::check_changes refuses a longer
    // one.
    reply.changes[reply.change_count++] = {change.block, change.factor, 0};
  }
  // The descriptors stay the ring's; the door duplicates them before it sends them.
  attachment.data_fd = joined.pass->ring().data_fd();
  attachment.cursor_fd = joined.reader.cursor_fd;
  return attachment;
}

}  // namespace echoline::engine
