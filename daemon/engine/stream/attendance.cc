#include "engine/stream/attendance.h"

#include <utility>

#include "base/log.h"
#include "engine/stream/job_notices.h"
#include "engine/stream/lane_choice.h"

namespace echoline::engine {

Attendance::Attendance(const StreamCore& core, const PassSet& passes, std::uint32_t workers)
    : core_(core),
      passes_(passes),
      pending_ranks_(core.name),
      rank_events_(core.name),
      meter_(core, consumers_, passes, pending_ranks_, workers) {}

void Attendance::add(Consumer consumer, const JoinedPass& joined, bool reattaches,
                     std::vector<TrainerNotice>& notices) {
  consumer.pass = joined.pass;
  consumer.reader = joined.reader.id;
  // A job that comes back begins with no rank: its other ranks came with it, or died before.
  const bool begins = !reattaches && !consumers_.has_job(consumer.job);
  // Before the consumer is added: has_job() must see the others only.
  pending_ranks_.note_rank(consumer, joined.reader.first_sequence, begins, consumer.attached_ns);
  if (const auto end = lines_.take(consumer.attached_ns)) {
    log_info({"engine", core_.name}, "job {} rank {}/{} attached at epoch {} row {}{}",
             consumer.job.name, consumer.rank, consumer.job.world_size, consumer.start.epoch,
             consumer.start.row, *end);
  }
  // Also before it is added, so that it is not compared with itself.
  notify_of_newcomer(core_.name, consumer, consumers_, notices);
  meter_.begin(consumer, reattaches);
  consumers_.add(std::move(consumer));
  // At once: the rank may have been the last one that the pass waited for.
  leave_lanes_to_other_hosts(core_, passes_, consumers_, pending_ranks_);
}

bool Attendance::remove(std::uint64_t connection, std::uint64_t now_ns,
                        std::vector<TrainerNotice>& notices) {
  Consumer* consumer = consumers_.find(connection);
  if (consumer == nullptr) return false;
  // Position and waits are read from the cursor page, which ends with the reader in remove().
  rank_events_.note_gone(*consumer, now_ns);
  meter_.end(*consumer, now_ns);
  consumers_.remove(*consumer);
  // Time 0: ends the waits that this trainer's leaving has decided, none for being late.
  release_pending(0, notices);
  return true;
}

void Attendance::measure(std::uint64_t now_ns, std::vector<TrainerNotice>& notices) {
  // meter_.tick returns connections, not consumers: remove() ends them one by one.
  for (const std::uint64_t connection : meter_.tick(now_ns, notices)) {
    notices.push_back({connection, shm::kNoticeDetached,
                       Status(Code::kInvalidArgument, "the cursor page held impossible values")});
    remove(connection, now_ns, notices);
  }
}

void Attendance::tick(std::uint64_t now_ns, std::vector<TrainerNotice>& notices) {
  release_pending(now_ns, notices);
  leave_lanes_to_other_hosts(core_, passes_, consumers_, pending_ranks_);
  notify_of_missing_jobs(pending_ranks_.missing_jobs(), consumers_, now_ns, notices);
  notify_of_bad_records(*core_.bad_records, consumers_, notices);
  for (TrainerNotice& notice : rank_events_.look(consumers_.all(), now_ns)) {
    notices.push_back(std::move(notice));
  }
}

void Attendance::release_pending(std::uint64_t now_ns, std::vector<TrainerNotice>& notices) {
  const auto late = pending_ranks_.release(now_ns, [this](const Pass& pass, const Job& job) {
    return consumers_.is_reading(pass, job);
  });
  for (const auto& [job, status] : late) notify_job(job, consumers_.all(), status, notices);
}

bool Attendance::is_unread(const Pass& pass) const {
  // A moving trainer still counts as a reader until it has attached elsewhere.
  return !consumers_.has_readers(pass) && !pending_ranks_.awaits_rank(pass);
}

bool Attendance::is_idle(const Pass& pass) const {
  return is_unread(pass) && !pending_ranks_.awaits_job(pass);
}

}  // namespace echoline::engine
