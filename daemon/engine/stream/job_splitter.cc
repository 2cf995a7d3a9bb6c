#include "engine/stream/job_splitter.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"

namespace echoline::engine {
namespace {

// After a refusal for want of memory.
constexpr std::uint64_t kRetryNs = 10'000'000'000;
// A trainer that waits, or takes a batch, receives the notice at once.
constexpr std::uint64_t kMovePatienceNs = 2'000'000'000;

bool contains(const std::vector<SlowJobDetector::SlowJob>& slow, const Job& job) {
  return std::any_of(slow.begin(), slow.end(),
                     [&](const SlowJobDetector::SlowJob& one) { return one.job == job; });
}

std::string text(const std::vector<SlowJobDetector::SlowJob>& slow) {
  std::string names;
  for (const SlowJobDetector::SlowJob& one : slow) {
    names += fmt::format("{}job {} is {} rows behind", names.empty() ? "" : ", ", one.job.name,
                         one.rows);
  }
  return names;
}

// The next position that the trainer claims, but none beyond what is published: nobody has
// finished more.
plan::Position next_position(const Consumer& consumer) {
  return std::min(consumer.position(), consumer.pass->next_position());
}

}  // namespace

std::optional<JobSplitter::Request> JobSplitter::look(std::uint64_t now_ns) {
  if (core_.slow.action == SlowPolicy::Action::kWait) return std::nullopt;
  for (Consumer& consumer : consumers_.all()) {
    // Not come in time: it is busy or stopped, so it counts as a reader of its old pass again.
    if (now_ns >= consumer.moving_until_ns) consumer.moving = false;
  }
  std::optional<Request> request;
  // Every pass is looked at, as the detector has to see each of them at every tick.
  for (const PassSet::Member& member : passes_.members()) {
    // A pass that ended publishes nothing, so nobody waits for a slow job in it.
    if (member.ended || member.pass->stopping()) continue;
    const SlowJobs slow = slow_jobs_of(member.pass, now_ns);
    if (slow.empty() || request.has_value() || now_ns < retry_ns_) continue;
    request = {member.pass,
               {.start = start_of_others(member.pass, slow),
                .history = member.pass->history(),
                .tails = member.pass->has_tails()}};
  }
  return request;
}

JobSplitter::SlowJobs JobSplitter::slow_jobs_of(const std::shared_ptr<Pass>& pass,
                                                std::uint64_t now_ns) {
  const FactorHistory factors = pass->factors();
  std::vector<SlowJobDetector::Progress> trainers;
  for (const Consumer& consumer : consumers_.all()) {
    // A moving trainer will not read on here.
    if (consumer.pass != pass || consumer.moving) continue;
    const ring::ReaderView view = pass->ring().view(consumer.reader);
    trainers.push_back(
        // A trainer that waits has finished the batch before `next`.
        {consumer.job, factors.absolute_row(next_position(consumer)), view.waiting_since_ns != 0});
  }
  return detector_.look(pass.get(), trainers, now_ns);
}

plan::Position JobSplitter::start_of_others(const std::shared_ptr<Pass>& pass,
                                            const SlowJobs& slow) const {
  // Above every position; min() below replaces it, because some job is not slow.
  plan::Position start{plan::kEpochsMax, 0};
  for (const Consumer& consumer : consumers_.all()) {
    if (consumer.pass != pass || consumer.moving || contains(slow, consumer.job)) continue;
    start = std::min(start, next_position(consumer));
  }
  return start;
}

bool JobSplitter::split(const Request& request, const std::shared_ptr<Pass>& built,
                        std::uint64_t now_ns, std::vector<TrainerNotice>& notices) {
  const std::shared_ptr<Pass>& pass = request.pass;
  // The pass was retired while the new one was built: its trainers have left.
  if (!passes_.has(*pass)) return false;
  // Looked at again: building took seconds, and the slow job may have caught up.
  const SlowJobs slow = slow_jobs_of(pass, now_ns);
  // A trainer that attached meanwhile may be before the start of the pass that was built.
  if (slow.empty() || start_of_others(pass, slow) < request.options.start) return false;
  const bool detaches = core_.slow.action == SlowPolicy::Action::kDetach;
  const std::string why = text(slow);
  // Before anybody moves: no trainer may join the slow pass from now on.
  passes_.set_split_off(*pass);
  passes_.add(built, now_ns);
  for (Consumer& consumer : consumers_.all()) {
    if (consumer.pass != pass || consumer.moving) continue;
    if (!contains(slow, consumer.job)) {
      move(consumer, request, built, why, now_ns, notices);
    } else if (detaches) {
      notices.push_back(
          {consumer.connection, shm::kNoticeDetached,
           Status(Code::kDeadlineExceeded,
                  fmt::format("too slow for the others ({}; publish.lag is {}, when_slow: detach); "
                              "attach again to go on from the last position in a pass of its own",
                              why, core_.slow.lag_rows))});
    }
  }
  ++(detaches ? counts_.detached : counts_.split);
  log_warning({"engine", core_.name}, "{}; {}, the others go on in another pass", why,
              detaches ? "detached" : "it keeps its pass");
  // What the slow jobs look at stays as it is.
  if (detaches) passes_.set_ended(*pass);
  return true;
}

void JobSplitter::move(Consumer& consumer, const Request& request,
                       const std::shared_ptr<Pass>& built, const std::string& why,
                       std::uint64_t now_ns, std::vector<TrainerNotice>& notices) {
  // From here on, for a limited time, it does not count as a reader of the old pass.
  consumer.moving = true;
  consumer.moving_until_ns = now_ns + kMovePatienceNs;
  // The new pass keeps its first batch until the trainer is there.
  pending_ranks_.await_moving(built, request.options.start, consumer);
  notices.push_back({consumer.connection, shm::kNoticeMoved, Status(Code::kUnavailable, why)});
}

void JobSplitter::note_refused(const Request& request, const Status& why, std::uint64_t now_ns) {
  // The jobs are looked at again, because the log should name the present lag.
  log_warning({"engine", core_.name},
              "{}; the other jobs wait for them, because there is no pass for these: {}",
              text(slow_jobs_of(request.pass, now_ns)), why.message());
  retry_ns_ = now_ns + kRetryNs;
  ++counts_.refused;
}

}  // namespace echoline::engine
