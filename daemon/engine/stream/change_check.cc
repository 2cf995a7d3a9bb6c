#include "engine/stream/change_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/pluralize.h"
#include "echoline/shm/ring_layout.h"

namespace echoline::engine {
namespace {

// Of a job that does not say how many of its ranks are on this host.
Status check_ranks_here(const ChangeKind& kind, const Consumers& consumers,
                        const Consumer& consumer) {
  if (consumer.says_local_ranks) return {};
  std::set<std::uint32_t> here;
  for (const Consumer& other : consumers.all()) {
    if (other.job == consumer.job) here.insert(other.rank);
  }
  if (here.size() == consumer.job.world_size) return {};
  return cannot_change(
      kind, fmt::format("{} of {} of job {} are attached, and if the others read on other hosts, "
                        "the change would begin at another {} there; set local_world_size in its "
                        "loaders, or wait for all of its ranks",
                        here.size(), pluralize(consumer.job.world_size, "rank"), consumer.job.name,
                        kind.place));
}

Status check_ranks_together(const ChangeKind& kind, const Consumers& consumers,
                            const Consumer& consumer, const Job* agreed) {
  if (consumer.has_other_hosts() && (agreed == nullptr || consumer.job != *agreed)) {
    return cannot_change(
        kind, fmt::format("{} has ranks on other hosts, where the change would begin at another "
                          "{}; {}",
                          name_of(consumer), kind.place, kind.on_hosts));
  }
  ECHOLINE_TRY(check_ranks_here(kind, consumers, consumer));
  const std::list<Consumer>& all = consumers.all();
  const bool apart = std::any_of(all.begin(), all.end(), [&](const Consumer& other) {
    return other.job == consumer.job && other.pass != consumer.pass;
  });
  if (!apart) return {};
  return cannot_change(
      kind,
      fmt::format("the ranks of job {} read in different passes, where the change would begin "
                  "at different {}s; start them together",
                  consumer.job.name, kind.place));
}

Status check_follower(const ChangeKind& kind, const Consumers& consumers, const Consumer& consumer,
                      const Job* agreed) {
  if (consumer.moving) {
    return cannot_change(
        kind, name_of(consumer) + " is on its way to another pass; ask again in some seconds");
  }
  ECHOLINE_TRY(check_ranks_together(kind, consumers, consumer, agreed));
  if (consumer.layout_minor >= kind.layout_minor) return {};
  return cannot_change(kind, name_of(consumer) +
                                 " has a client library of an older release, whose states would "
                                 "not tell of the change; install this daemon's");
}

}  // namespace

std::string name_of(const Consumer& consumer) {
  return fmt::format("job {} rank {}", consumer.job.name, consumer.rank);
}

Status cannot_change(const ChangeKind& kind, const std::string& why) {
  return Status(Code::kFailedPrecondition,
                fmt::format("{} cannot be changed now: {}", kind.what, why));
}

Status check_followers(const ChangeKind& kind, const Consumers& consumers,
                       const ReattachBarrier& barrier, const Job* agreed) {
  // They bring their own list of changes, and the passes must be able to follow it.
  if (barrier.is_open()) {
    return cannot_change(
        kind, "trainers of the daemon before are still awaited; ask again in some seconds");
  }
  for (const Consumer& consumer : consumers.all()) {
    ECHOLINE_TRY(check_follower(kind, consumers, consumer, agreed));
  }
  return {};
}

Status check_layout(const ChangeKind& kind, const Consumer& consumer, const std::string& stream) {
  if (consumer.layout_minor >= kind.layout_minor) return {};
  return Status(Code::kFailedPrecondition,
                fmt::format("stream '{}' had a change of {}, which this client library of an older "
                            "release (ring layout {}.{}) knows nothing of; install the one of the "
                            "daemon's release",
                            stream, kind.what, shm::kLayoutMajor, consumer.layout_minor));
}

Readers readers_of(const Pass& pass, const Consumers& consumers, const StreamCore& core) {
  Readers readers{.batch_rows_most = core.ring_spec.batch_rows, .foremost = {}};
  for (const Consumer& consumer : consumers.all()) {
    if (consumer.pass.get() != &pass) continue;
    readers.batch_rows_most =
        std::max<std::uint64_t>(readers.batch_rows_most, consumer.job.batch_size);
    // A trainer that came with a state: its row numbers count the rows of the order that the state
    // was saved in, so rows before that position must not change.
    if (consumer.start.row > 0) readers.foremost = std::max(readers.foremost, consumer.start);
    readers.grids.push_back({.start = consumer.start,
                             .batch_rows = consumer.job.batch_size,
                             .reader = consumer.reader});
  }
  return readers;
}

std::vector<std::shared_ptr<Pass>> take_idle(PassSet& passes, const Attendance& attendance) {
  if (!attendance.pending_ranks().missing_jobs().empty()) return {};
  return passes.take_idle([&](const Pass& pass) { return attendance.is_idle(pass); });
}

std::vector<std::string> jobs_of(const Pass& pass, const Consumers& consumers) {
  std::vector<std::string> jobs;
  for (const Consumer& consumer : consumers.all()) {
    // Rank 0 speaks for its job.
    if (consumer.pass.get() == &pass && consumer.rank == 0) jobs.push_back(consumer.job.name);
  }
  return jobs;
}

}  // namespace echoline::engine
