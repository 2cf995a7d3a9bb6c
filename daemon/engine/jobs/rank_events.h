// What the ranks of a job are notified of about each other: a rank that died or left inside an
// epoch, and ranks of which one takes batches that another left out (semantics.md, Jobs and
// passes).
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "base/rate_limiter.h"
#include "engine/api/attach.h"
#include "engine/jobs/consumer.h"

namespace echoline::engine {

// One thread at a time.
class RankEvents {
 public:
  explicit RankEvents(std::string stream_name) : stream_name_(std::move(stream_name)) {}

  // The trainer is about to be removed, for any reason.
  void note_gone(const Consumer& consumer, std::uint64_t now_ns);
  // The notices that are due now; also writes their log lines. Called a hundred times a
  // second.
  std::vector<TrainerNotice> look(const std::list<Consumer>& consumers, std::uint64_t now_ns);

 private:
  struct Gone {
    Job job;
    std::uint32_t rank = 0;
    Peer peer;
    std::uint64_t begin_ticks = 0;
    plan::Position position;
    bool moving = false;  // it was notified to attach again, elsewhere
    std::uint64_t since_ns = 0;
  };

  // Adds the notices about a trainer that is gone; false while it is not known whether it died.
  bool report_gone(const Gone& gone, const std::list<Consumer>& consumers, std::uint64_t now_ns,
                   std::vector<TrainerNotice>& notices);
  // Adds the notices about ranks whose batches differ.
  void compare_ranks(const std::list<Consumer>& consumers, std::uint64_t now_ns,
                     std::vector<TrainerNotice>& notices);

  const std::string stream_name_;
  std::list<Gone> gone_;
  // By job: the begin of the batches that one rank left out and another takes, as found by the last
  // look, and when it was last reported.
  std::map<Job, plan::Position> suspected_;
  std::map<Job, std::uint64_t> reported_ns_;
  LineBudget lines_;  // about trainers that are gone
};

// Notifies all ranks of a job that are attached.
void notify_job(const Job& job, const std::list<Consumer>& consumers, const Status& status,
                std::vector<TrainerNotice>& notices);

}  // namespace echoline::engine
