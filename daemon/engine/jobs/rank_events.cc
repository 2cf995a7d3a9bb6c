#include "engine/jobs/rank_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/process.h"

namespace echoline::engine {
namespace {

// A process that dies closes its connection before it is gone from the process table. So for this
// time it is not known whether the trainer died or only detached.
constexpr std::uint64_t kDyingNs = 200'000'000;
// Notices of a job are this far apart: a trainer can claim other batches at each look and would
// otherwise fill the log.
constexpr std::uint64_t kReportAgainNs = 10'000'000'000;

struct Seen {
  std::uint32_t rank;
  ring::ReaderView view;
};

// One rank takes batches that another one left out.
struct Difference {
  Seen takes;
  Seen left_out;
};

std::optional<Difference> difference_in(const std::vector<Seen>& ranks) {
  for (const Seen& left_out : ranks) {
    for (const Seen& takes : ranks) {
      if (takes.rank == left_out.rank) continue;
      // `next` strictly inside the range: at its begin, the rank can still leave the loop, too; at
      // its end it has all of these batches behind it.
      if (left_out.view.left_out_begin < takes.view.next &&
          takes.view.next < left_out.view.left_out_end) {
        return Difference{takes, left_out};
      }
    }
  }
  return std::nullopt;
}

bool is_attached(const Job& job, std::uint32_t rank, const std::list<Consumer>& consumers) {
  return std::any_of(consumers.begin(), consumers.end(), [&](const Consumer& consumer) {
    return consumer.job == job && consumer.rank == rank;
  });
}

std::string text(plan::Position position) {
  return fmt::format("epoch {} row {}", position.epoch, position.row);
}

}  // namespace

void notify_job(const Job& job, const std::list<Consumer>& consumers, const Status& status,
                std::vector<TrainerNotice>& notices) {
  for (const Consumer& consumer : consumers) {
    if (consumer.job == job) notices.push_back({consumer.connection, shm::kNoticeText, status});
  }
}

void RankEvents::note_gone(const Consumer& consumer, std::uint64_t now_ns) {
  gone_.push_back({.job = consumer.job,
                   .rank = consumer.rank,
                   .peer = consumer.peer,
                   .begin_ticks = consumer.begin_ticks,
                   // Read now: the consumer's reader leaves the ring right after this.
                   .position = consumer.position(),
                   .moving = consumer.moving,
                   .since_ns = now_ns});
}

std::vector<TrainerNotice> RankEvents::look(const std::list<Consumer>& consumers,
                                            std::uint64_t now_ns) {
  std::vector<TrainerNotice> notices;
  gone_.remove_if([&](const Gone& gone) { return report_gone(gone, consumers, now_ns, notices); });
  compare_ranks(consumers, now_ns, notices);
  return notices;
}

bool RankEvents::report_gone(const Gone& gone, const std::list<Consumer>& consumers,
                             std::uint64_t now_ns, std::vector<TrainerNotice>& notices) {
  // The start time tells the process from a later one with the same id. It is 0 for a process in
  // another container, which counts as one that left.
  const bool died = gone.begin_ticks != 0 && process_begin(gone.peer.pid) != gone.begin_ticks;
  if (!died && gone.begin_ticks != 0 && now_ns < gone.since_ns + kDyingNs) return false;
  // It comes back in another pass. Only its death is news.
  if (gone.moving && !died) return true;
  const std::string who =
      fmt::format("job {} rank {}/{}", gone.job.name, gone.rank, gone.job.world_size);
  const char* how = died ? "is gone with its process" : "left";
  if (const auto end = lines_.take(now_ns)) {
    log_info({"engine", stream_name_}, "{} {} at {}{}", who, how, text(gone.position), *end);
  }
  // A trainer that loads a state attaches again; one that leaves at an epoch's end may be done.
  if (gone.position.row == 0 || (!died && is_attached(gone.job, gone.rank, consumers))) return true;
  notify_job(gone.job, consumers,
             Status(Code::kUnavailable, fmt::format("{} (process {}) {} at {}", who, gone.peer.pid,
                                                    how, text(gone.position))),
             notices);
  return true;
}

// Reported at the second look only: a cursor page that was read while its trainer wrote it shows
// a mixture of two positions.
void RankEvents::compare_ranks(const std::list<Consumer>& consumers, std::uint64_t now_ns,
                               std::vector<TrainerNotice>& notices) {
  std::map<Job, std::vector<Seen>> jobs;
  for (const Consumer& consumer : consumers) {
    // A job of one rank cannot differ from itself.
    if (consumer.job.world_size == 1) continue;
    jobs[consumer.job].push_back({consumer.rank, consumer.pass->ring().view(consumer.reader)});
  }
  std::map<Job, plan::Position> found;
  for (const auto& [job, ranks] : jobs) {
    const std::optional<Difference> difference = difference_in(ranks);
    if (!difference) continue;
    const ring::ReaderView& left_out = difference->left_out.view;
    const plan::Position begin = left_out.left_out_begin;
    // For the next look, whether or not it is reported now.
    found.emplace(job, begin);
    const auto suspected = suspected_.find(job);
    if (suspected == suspected_.end() || suspected->second != begin) continue;
    const auto [reported, first] = reported_ns_.emplace(job, now_ns);
    if (!first && now_ns < reported->second + kReportAgainNs) continue;
    reported->second = now_ns;
    const Status status(
        Code::kFailedPrecondition,
        fmt::format("the ranks of job {} differ: rank {} is at {}, in what rank {} left out ({} to "
                    "{}); all ranks of a job must leave a loop, and skip, at the same batch",
                    job.name, difference->takes.rank, text(difference->takes.view.next),
                    difference->left_out.rank, text(begin), text(left_out.left_out_end)));
    log_warning({"engine", stream_name_}, "{}", status.message());
    notify_job(job, consumers, status, notices);
  }
  // Differences that this look did not find are forgotten.
  suspected_ = std::move(found);
  std::erase_if(reported_ns_, [&](const auto& entry) { return !jobs.contains(entry.first); });
}

}  // namespace echoline::engine
