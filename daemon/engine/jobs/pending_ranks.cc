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
  for (NamedJob& named : named_jobs_) named.has_come |= named.name == job.name;
  bool awaited = false;
  // In any pass: a rank with an older checkpoint reads in another pass and will not come here.
  for (Wait& wait : waits_) {
    if (wait.job != job) continue;
    wait.came.insert(consumer.rank);
    wait.moving.erase(consumer.rank);
    awaited = true;
  }
  if (awaited || !begins || consumer.local_ranks == 1) return;
  const Result<ring::Ring::Reader> reader =
      consumer.pass->ring().add_reader(first_sequence, consumer.start);
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
    const Result<ring::Ring::Reader> reader = pass->ring().add_reader(0, start);
    if (!reader.ok()) return;
    wait = waits_.insert(waits_.end(), {.pass = pass,
                                        .reader = reader->id,
                                        .job = consumer.job,
                                        .start = start,
                                        .came = {},
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

void PendingRanks::forget(const Pass& pass) {
  waits_.remove_if([&](const Wait& wait) { return wait.pass.get() == &pass; });
  named_jobs_.remove_if([&](const NamedJob& named) { return named.pass.get() == &pass; });
}

}  // namespace echoline::engine
