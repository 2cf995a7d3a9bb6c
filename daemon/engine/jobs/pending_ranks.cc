#include "engine/jobs/pending_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/process.h"

namespace echoline::engine {
namespace {

// After this time a job continues without its missing ranks.
constexpr std::uint64_t kRankPatienceNs = 30'000'000'000;

}  // namespace

Status PendingRanks::await_jobs(const std::shared_ptr<Pass>& pass,
                                const std::vector<std::string>& names) {
  // The pass may have published already. Without a reader nothing was released, so sequence 0 is
  // still there.
  for (const std::string& name : names) {
    // A reader that releases nothing: the pass keeps its first batches until the job has come.
    ECHOLINE_ASSIGN(const ring::Ring::Reader reader, pass->ring().add_reader(0, {}));
    named_jobs_.push_back({pass, reader.id, name});
  }
  return {};
}

void PendingRanks::note_rank(const Consumer& consumer, std::uint64_t first_sequence, bool begins,
                             std::uint64_t now_ns) {
  const Job& job = consumer.job;
  // A job of publish.jobs has come with its first rank, whichever pass that rank reads.
  for (NamedJob& named : named_jobs_) named.has_come |= named.name == job.name;
  bool awaited = false;
  // In any pass: a rank with an older checkpoint reads in another pass and will not come here.
  for (Wait& wait : waits_) {
    if (wait.job != job) continue;
    wait.came.insert(consumer.rank);
    wait.moving.erase(consumer.rank);
    awaited = true;
  }
  // A job of one local rank waits for nobody. Ranks that join later find the job's wait, or a pass
  // that has gone on.
  if (awaited || !begins || consumer.local_ranks == 1) return;
  const Result<ring::Ring::Reader> reader =
      consumer.pass->ring().add_reader(first_sequence, consumer.start);
  // The ring has no room for another reader: the job continues without this wait.
  if (!reader.ok()) return;
  waits_.push_back({.pass = consumer.pass,
                    .reader = reader->id,
                    .job = job,
                    .start = consumer.start,
                    .came = {consumer.rank},
                    .ranks = consumer.local_ranks,
                    .moving = {},
                    .until_ns = now_ns + kRankPatienceNs});
}

void PendingRanks::await_moving(const std::shared_ptr<Pass>& pass, plan::Position start,
                                const Consumer& consumer) {
  auto wait = std::find_if(waits_.begin(), waits_.end(), [&](const Wait& candidate) {
    return candidate.pass == pass && candidate.job == consumer.job;
  });
  if (wait == waits_.end()) {
    // Sequence 0 is the batch at `start`: the pass is new, and no reader of it has released
    // anything.
    const Result<ring::Ring::Reader> reader = pass->ring().add_reader(0, start);
    if (!reader.ok()) return;
    wait = waits_.insert(waits_.end(), {.pass = pass,
                                        .reader = reader->id,
                                        .job = consumer.job,
                                        .start = start,
                                        .came = {},
                                        // No rank has to come before the movers: the wait ends when
                                        // `moving` is empty.
                                        .ranks = 0,
                                        .moving = {},
                                        .until_ns = consumer.moving_until_ns});
  }
  wait->moving.emplace(consumer.rank, consumer.peer.pid);
}

std::optional<plan::Position> PendingRanks::start_of(const Job& job) const {
  const auto wait = std::find_if(waits_.begin(), waits_.end(),
                                 [&](const Wait& candidate) { return candidate.job == job; });
  return wait == waits_.end() ? std::nullopt : std::optional(wait->start);
}

bool PendingRanks::is_over(Wait& wait, std::uint64_t now_ns, const IsReading& is_reading,
                           std::vector<Late>& late) const {
  // A rank that died on its way from another pass will not come. Process 0: its container hides it.
  std::erase_if(wait.moving, [](const auto& rank) {
    return rank.second != 0 && process_begin(rank.second) == 0;
  });
  if (wait.moving.empty() && wait.came.size() >= wait.ranks) return true;
  // All that came have left again: there is nobody to wait with.
  if (!wait.came.empty() && !is_reading(*wait.pass, wait.job)) return true;
  if (now_ns < wait.until_ns) return false;
  // Movers that are late count as readers of their old pass again (Consumer::moving); no message.
  if (!wait.moving.empty()) return true;
  const Status status(
      Code::kDeadlineExceeded,
      fmt::format(
          "{} of {} ranks of job {} attached within {} s; they go on, the others will get a "
          "pass of their own (local_world_size says how many this host has)",
          wait.came.size(), wait.ranks, wait.job.name, kRankPatienceNs / 1'000'000'000));
  log_warning({"engine", stream_name_}, "{}", status.message());
  late.push_back({wait.job, status});
  return true;
}

std::vector<PendingRanks::Late> PendingRanks::release(std::uint64_t now_ns,
                                                      const IsReading& is_reading) {
  std::vector<Late> late;
  waits_.remove_if([&](Wait& wait) {
    if (!is_over(wait, now_ns, is_reading, late)) return false;
    // Frees the slots that the wait kept; the pass's thread wakes up.
    wait.pass->ring().remove_reader(wait.reader);
    return true;
  });
  named_jobs_.remove_if([](const NamedJob& named) {
    if (named.has_come) named.pass->ring().remove_reader(named.reader);
    return named.has_come;
  });
  return late;
}

std::string PendingRanks::missing_jobs() const {
  std::string names;
  for (const NamedJob& named : named_jobs_) {
    if (!named.has_come) names += (names.empty() ? "" : ", ") + named.name;
  }
  return names;
}

bool PendingRanks::awaits_rank(const Pass& pass) const {
  return std::any_of(waits_.begin(), waits_.end(),
                     [&](const Wait& wait) { return wait.pass.get() == &pass; });
}

bool PendingRanks::awaits_job(const Pass& pass) const {
  return std::any_of(named_jobs_.begin(), named_jobs_.end(),
                     [&](const NamedJob& named) { return named.pass.get() == &pass; });
}

std::vector<PendingRanks::Place> PendingRanks::places() const {
  std::vector<Place> places;
  for (const Wait& wait : waits_) places.push_back({wait.pass, wait.reader, wait.job.name});
  for (const NamedJob& named : named_jobs_) {
    if (!named.has_come) places.push_back({named.pass, named.reader, named.name});
  }
  return places;
}

void PendingRanks::forget(const Pass& pass) {
  // The readers in the ring end with the pass, so they are not removed here.
  waits_.remove_if([&](const Wait& wait) { return wait.pass.get() == &pass; });
  named_jobs_.remove_if([&](const NamedJob& named) { return named.pass.get() == &pass; });
}

}  // namespace echoline::engine
