// What the ranks of a job are told of each other: who died or left amid an epoch, and who takes
// batches that another one left out (semantics.md, Jobs and passes).
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "engine/api/attach.h"
#include "engine/jobs/consumer.h"

namespace echoline::engine {

// One thread at a time.
class RankEvents {
 public:
  explicit RankEvents(std::string stream_name) : stream_name_(std::move(stream_name)) {}

  // It is about to be taken off, for whatever reason.
  void note_gone(const Consumer& consumer, std::uint64_t now_ns);
  // What is to be said now, with its lines in the log. Every few hundredths of a second.
  std::vector<TrainerNotice> look(const std::list<Consumer>& consumers, std::uint64_t now_ns);

 private:
  struct Gone {
    Job job;
    std::uint32_t rank = 0;
    Peer peer;
    std::uint64_t begin_ticks = 0;
    plan::Position position;
    bool moving = false;  // it is to come back, elsewhere
    std::uint64_t since_ns = 0;
  };

  bool tell_gone(const Gone& gone, const std::list<Consumer>& consumers, std::uint64_t now_ns,
                 std::vector<TrainerNotice>& notices) const;
  void compare_ranks(const std::list<Consumer>& consumers, std::uint64_t now_ns,
                     std::vector<TrainerNotice>& notices);

  const std::string stream_name_;
  std::list<Gone> gone_;
  // By job, where a stretch begins that one rank left out and another takes: found by the last
  // look, and when it was last said.
  std::map<Job, plan::Position> suspected_;
  std::map<Job, std::uint64_t> said_ns_;
};

// Says something to all ranks of a job that are attached.
void tell_job(const Job& job, const std::list<Consumer>& consumers, const Status& status,
              std::vector<TrainerNotice>& notices);

}  // namespace echoline::engine
