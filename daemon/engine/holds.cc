#include "engine/holds.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace echoline::engine {
namespace {

// How long the ranks of a job that has begun are waited for before the others go on without them.
constexpr std::uint64_t kRankPatienceNs = 30'000'000'000;

}  // namespace

Status Holds::await_jobs(const std::shared_ptr<Pass>& pass, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    ECHOLINE_ASSIGN(const ring::Ring::Reader reader, pass->ring().add_reader(0, {}));
    named_.push_back({pass, reader.id, name});
  }
  return {};
}

void Holds::note_rank(const Consumer& consumer, std::uint64_t first_sequence, bool begins,
                      std::uint64_t now_ns) {
  const Job& job = consumer.job;
  for (NamedJob& named : named_) named.has_come |= named.name == job.name;
  // To whichever pass: a rank whose checkpoint is older reads elsewhere and will not come here.
  const auto hold = std::find_if(holds_.begin(), holds_.end(),
                                 [&](const Hold& candidate) { return candidate.job == job; });
  if (hold != holds_.end()) {
    hold->ranks.insert(consumer.rank);
    return;
  }
  if (!begins || job.world_size == 1) return;
  const Result<ring::Ring::Reader> reader =
      consumer.pass->ring().add_reader(first_sequence, consumer.start);
  if (!reader.ok()) return;
  holds_.push_back(
      {consumer.pass, reader->id, job, consumer.start, {consumer.rank}, now_ns + kRankPatienceNs});
}

std::optional<plan::Position> Holds::start_of(const Job& job) const {
  const auto hold = std::find_if(holds_.begin(), holds_.end(),
                                 [&](const Hold& candidate) { return candidate.job == job; });
  return hold == holds_.end() ? std::nullopt : std::optional(hold->start);
}

bool Holds::is_over(const Hold& hold, std::uint64_t now_ns, const IsReading& is_reading) const {
  if (hold.ranks.size() == hold.job.world_size || !is_reading(*hold.pass, hold.job)) return true;
  if (now_ns < hold.until_ns) return false;
  log_warning("engine",
              "stream {}: {} of {} ranks of job {} attached within {} s; they go on, the others "
              "will get a pass of their own",
              stream_name_, hold.ranks.size(), hold.job.world_size, hold.job.name,
              kRankPatienceNs / 1'000'000'000);
  return true;
}

void Holds::release(std::uint64_t now_ns, const IsReading& is_reading) {
  holds_.remove_if([&](const Hold& hold) {
    if (!is_over(hold, now_ns, is_reading)) return false;
    hold.pass->ring().remove_reader(hold.reader);
    return true;
  });
  named_.remove_if([](const NamedJob& named) {
    if (named.has_come) named.pass->ring().remove_reader(named.reader);
    return named.has_come;
  });
}

void Holds::forget(const Pass& pass) {
  holds_.remove_if([&](const Hold& hold) { return hold.pass.get() == &pass; });
  named_.remove_if([&](const NamedJob& named) { return named.pass.get() == &pass; });
}

}  // namespace echoline::engine
