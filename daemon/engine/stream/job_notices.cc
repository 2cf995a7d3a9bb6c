#include "engine/stream/job_notices.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"

namespace echoline::engine {
namespace {

// Jobs of one start script attach within this time.
constexpr std::uint64_t kTogetherNs = 2'000'000'000;

}  // namespace

void notify_of_newcomer(const std::string& stream_name, const Consumer& newcomer,
                        const Consumers& consumers, std::vector<TrainerNotice>& notices) {
  const std::list<Consumer>& all = consumers.all();
  const auto namesake = std::find_if(all.begin(), all.end(), [&](const Consumer& other) {
    return other.job.name == newcomer.job.name && other.job != newcomer.job;
  });
  // One of them is enough for the message: two definitions of one job name are a mistake anyway.
  if (namesake != all.end()) {
    const Job& one = newcomer.job;
    const Job& other = namesake->job;
    const Status status(
        Code::kUnavailable,
        fmt::format("job {} is attached with world size {} and batch size {}, and with {} and {}: "
                    "these are two jobs, each gets all batches; name one of them otherwise",
                    one.name, one.world_size, one.batch_size, other.world_size, other.batch_size));
    log_warning({"engine", stream_name}, "{}", status.message());
    notices.push_back({newcomer.connection, shm::kNoticeText, status});
    notices.push_back({namesake->connection, shm::kNoticeText, status});
  }
  const bool others_elsewhere = std::any_of(all.begin(), all.end(), [&](const Consumer& other) {
    return other.job == newcomer.job && other.pass != newcomer.pass && !other.moving;
  });
  // The other ranks read elsewhere, and none reads here: this rank's batches are prepared for it
  // alone.
  if (others_elsewhere && !consumers.is_reading(*newcomer.pass, newcomer.job)) {
    notices.push_back(
        {newcomer.connection, shm::kNoticeText,
         Status(Code::kUnavailable,
                fmt::format("the other ranks of job {} are elsewhere: rank {} has a pass of its "
                            "own, every batch is prepared once more",
                            newcomer.job.name, newcomer.rank))});
  }
}

void notify_of_missing_jobs(const std::string& missing_jobs, Consumers& consumers,
                            std::uint64_t now_ns, std::vector<TrainerNotice>& notices) {
  if (missing_jobs.empty()) return;
  const Status status(
      Code::kUnavailable,
      "batches stop when the slots are full, until these jobs have attached (publish.jobs): " +
          missing_jobs);
  for (Consumer& consumer : consumers.all()) {
    // Each trainer is notified once, and not before its own two seconds are over.
    if (consumer.knows_missing_jobs || now_ns < consumer.attached_ns + kTogetherNs) continue;
    consumer.knows_missing_jobs = true;
    notices.push_back({consumer.connection, shm::kNoticeText, status});
  }
}

void notify_of_bad_records(const BadRecords& bad_records, Consumers& consumers,
                           std::vector<TrainerNotice>& notices) {
  std::list<Consumer>& all = consumers.all();
  if (std::ranges::all_of(all, &Consumer::knows_bad_records)) return;
  const std::string first = bad_records.first();
  if (first.empty()) return;
  for (Consumer& consumer : all) {
    const bool is_known = std::ranges::any_of(all, [&consumer](const Consumer& other) {
      return other.knows_bad_records && other.job == consumer.job;
    });
    consumer.knows_bad_records = true;
    if (is_known) continue;
    notices.push_back(
        {consumer.connection, shm::kNoticeText,
         Status(Code::kUnavailable, first + "; the daemon's log names each bad record")});
  }
}

}  // namespace echoline::engine
