#include "engine/jobs/pending_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/process.h"

namespace echoline::engine {
namespace {

// How long the ranks of a job that has begun are waited for before the others go on without them.
constexpr std::uint64_t kRankPatienceNs = 30'000'000'000;

}  // namespace

Status PendingRanks::await_jobs(const std::shared_ptr<Pass>& pass,
                                const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    ECHOLINE_ASSIGN(const ring::Ring::Reader reader, pass->ring().add_reader(0, {}));
    named_.push_back({pass, reader.id, name});
  }
  return {};
}

void PendingRanks::note_rank(const Consumer& consumer, std::uint64_t first_sequence, bool begins,
                             std::uint64_t now_ns) {
  const Job& job = consumer.job;
  for (NamedJob& named : named_) named.has_come |= named.name == job.name;
  bool awaited = false;
  // In whichever pass: a rank whose checkpoint is older reads elsewhere and will not come here.
  for (Hold& hold : pending_ranks_) {
    if (hold.job != job) continue;
    hold.came.insert(consumer.rank);
    hold.movers.erase(consumer.rank);
    awaited = true;
  }
  if (awaited || !begins || consumer.local_ranks == 1) return;
  const Result<ring::Ring::Reader> reader =
      consumer.pass->ring().add_reader(first_sequence, consumer.start);
  if (!reader.ok()) return;
  pending_ranks_.push_back({.pass = consumer.pass,
                            .reader = reader->id,
                            .job = job,
                            .start = consumer.start,
                            .came = {consumer.rank},
                            .ranks = consumer.local_ranks,
                            .movers = {},
                            .until_ns = now_ns + kRankPatienceNs});
}

void PendingRanks::await_mover(const std::shared_ptr<Pass>& pass, const Consumer& mover) {
  auto hold = std::find_if(
      pending_ranks_.begin(), pending_ranks_.end(),
      [&](const Hold& candidate) { return candidate.pass == pass && candidate.job == mover.job; });
  if (hold == pending_ranks_.end()) {
    const plan::Position start = pass->next_position();
    const Result<ring::Ring::Reader> reader = pass->ring().add_reader(0, start);
    if (!reader.ok()) return;
    hold = pending_ranks_.insert(pending_ranks_.end(), {.pass = pass,
                                                        .reader = reader->id,
                                                        .job = mover.job,
                                                        .start = start,
                                                        .came = {},
                                                        .ranks = 0,
                                                        .movers = {},
                                                        .until_ns = mover.moving_until_ns});
  }
  hold->movers.emplace(mover.rank, mover.peer.pid);
}

std::optional<plan::Position> PendingRanks::start_of(const Job& job) const {
  const auto hold = std::find_if(pending_ranks_.begin(), pending_ranks_.end(),
                                 [&](const Hold& candidate) { return candidate.job == job; });
  return hold == pending_ranks_.end() ? std::nullopt : std::optional(hold->start);
}

bool PendingRanks::is_over(Hold& hold, std::uint64_t now_ns, const IsReading& is_reading,
                           std::vector<Late>& late) const {
  std::erase_if(hold.movers, [](const auto& mover) {
    return mover.second != 0 && process_begin(mover.second) == 0;
  });
  if (hold.movers.empty() && hold.came.size() >= hold.ranks) return true;
  if (!hold.came.empty() && !is_reading(*hold.pass, hold.job)) return true;
  if (now_ns < hold.until_ns) return false;
  if (!hold.movers.empty()) return true;
  const Status status(
      Code::kDeadlineExceeded,
      fmt::format(
          "{} of {} ranks of job {} attached within {} s; they go on, the others will get a "
          "pass of their own (local_world_size says how many this host has)",
          hold.came.size(), hold.ranks, hold.job.name, kRankPatienceNs / 1'000'000'000));
  log_warning({"engine", stream_name_}, "{}", status.message());
  late.push_back({hold.job, status});
  return true;
}

std::vector<PendingRanks::Late> PendingRanks::release(std::uint64_t now_ns,
                                                      const IsReading& is_reading) {
  std::vector<Late> late;
  pending_ranks_.remove_if([&](Hold& hold) {
    if (!is_over(hold, now_ns, is_reading, late)) return false;
    hold.pass->ring().remove_reader(hold.reader);
    return true;
  });
  named_.remove_if([](const NamedJob& named) {
    if (named.has_come) named.pass->ring().remove_reader(named.reader);
    return named.has_come;
  });
  return late;
}

std::string PendingRanks::missing_jobs() const {
  std::string names;
  for (const NamedJob& named : named_) {
    if (!named.has_come) names += (names.empty() ? "" : ", ") + named.name;
  }
  return names;
}

bool PendingRanks::awaits(const Pass& pass) const {
  return std::any_of(pending_ranks_.begin(), pending_ranks_.end(),
                     [&](const Hold& hold) { return hold.pass.get() == &pass; });
}

void PendingRanks::forget(const Pass& pass) {
  pending_ranks_.remove_if([&](const Hold& hold) { return hold.pass.get() == &pass; });
  named_.remove_if([&](const NamedJob& named) { return named.pass.get() == &pass; });
}

}  // namespace echoline::engine
