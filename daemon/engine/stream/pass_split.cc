// What becomes of jobs that fall behind the others of their pass (publish.when_slow): the others go
// on in a pass of their own. Never the slow ones: a trainer that is stopped can neither move nor
// copy what it looks at, so its ring stays as it is.

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "engine/stream/stream.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kRetryNs = 10'000'000'000;
// A trainer that waits, or takes a batch, hears of its move at once.
constexpr std::uint64_t kMovePatienceNs = 2'000'000'000;

bool is_among(const std::vector<SlowJobDetector::SlowJob>& laggards, const Job& job) {
  return std::any_of(laggards.begin(), laggards.end(),
                     [&](const SlowJobDetector::SlowJob& laggard) { return laggard.job == job; });
}

std::string text(const std::vector<SlowJobDetector::SlowJob>& laggards) {
  std::string names;
  for (const SlowJobDetector::SlowJob& laggard : laggards) {
    names += fmt::format("{}job {} is {} rows behind", names.empty() ? "" : ", ", laggard.job.name,
                         laggard.rows);
  }
  return names;
}

}  // namespace

void Stream::part_from_laggards(std::uint64_t now_ns) {
  if (core_->slow.action == SlowPolicy::Action::kWait) return;
  give_up_movers(now_ns);
  const std::vector<std::shared_ptr<Pass>> passes = passes_;  // parting adds one
  for (const auto& pass : passes) {
    if (pass->stopping()) continue;
    std::vector<SlowJobDetector::Reading> readings;
    for (const Consumer& consumer : consumers_) {
      if (consumer.pass != pass || consumer.moving) continue;
      const ring::ReaderView view = pass->ring().view(consumer.reader);
      readings.push_back(
          {consumer.job, absolute_row(consumer, place_of(consumer)), view.waiting_since_ns != 0});
    }
    const std::vector<SlowJobDetector::SlowJob> behind =
        slow_jobs_.look(pass.get(), readings, now_ns);
    if (!behind.empty() && now_ns >= part_again_ns_) part(pass, behind, now_ns);
  }
}

void Stream::part(const std::shared_ptr<Pass>& pass,
                  const std::vector<SlowJobDetector::SlowJob>& behind, std::uint64_t now_ns) {
  const bool detaches = core_->slow.action == SlowPolicy::Action::kDetach;
  Pass::Options options{
      .start = {plan::kEpochsMax, 0}, .factors = pass->factors(), .tails = pass->has_tails()};
  for (const Consumer& consumer : consumers_) {
    if (consumer.pass != pass || consumer.moving || is_among(behind, consumer.job)) continue;
    options.start = std::min(options.start, place_of(consumer));
  }
  const Result<std::shared_ptr<Pass>> made = start_pass(std::move(options));
  if (!made.ok()) {
    log_warning({"engine", core_->name}, "{}; the others wait, for they cannot go on alone: {}",
                text(behind), made.status().message());
    part_again_ns_ = now_ns + kRetryNs;
    ++slow_counts_.refused;
    return;
  }
  passes_.push_back(made.value());
  pass->set_parted();
  for (Consumer& consumer : consumers_) {
    if (consumer.pass != pass || consumer.moving) continue;
    if (!is_among(behind, consumer.job)) {
      consumer.moving = true;
      consumer.moving_until_ns = now_ns + kMovePatienceNs;
      pending_ranks_.await_mover(made.value(), consumer);
      tell(consumer.connection, shm::kNoticeMoved, Status(Code::kUnavailable, text(behind)));
    } else if (detaches) {
      tell(consumer.connection, shm::kNoticeDetached,
           Status(Code::kDeadlineExceeded,
                  fmt::format("too slow for the others ({}; publish.lag is {}, when_slow: detach); "
                              "attach again to go on from the last position in a pass of its own",
                              text(behind), core_->slow.lag_rows)));
    }
  }
  ++(detaches ? slow_counts_.detached : slow_counts_.split);
  log_warning({"engine", core_->name}, "{}; {}, the others go on in another pass", text(behind),
              detaches ? "detached" : "it keeps its pass");
  // What the slow ones look at stays as it is.
  if (detaches) pass->stop(shm::kWriterEnded);
}

// Those that did not come hold up whom they were with, as before; they will move when they can.
void Stream::give_up_movers(std::uint64_t now_ns) {
  for (Consumer& consumer : consumers_) {
    if (now_ns >= consumer.moving_until_ns) consumer.moving = false;
  }
}

// What it claims to want next, but not beyond what was published: nobody is done with more.
plan::Position Stream::place_of(const Consumer& consumer) {
  return std::min(consumer.position(), consumer.pass->next_position());
}

std::uint64_t Stream::absolute_row(const Consumer& consumer, plan::Position position) {
  return consumer.pass->factors().absolute_row(position);
}

}  // namespace echoline::engine
