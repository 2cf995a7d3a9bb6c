// After a restart of the daemon, its trainers come back one by one. The barrier collects their
// attach requests until all expected trainers are there, so that one pass can begin at the smallest
// of their positions and all of them share it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/jobs/attach_call.h"
#include "engine/jobs/attached_trainers_file.h"

namespace echoline::engine {

// Not thread safe.
class ReattachBarrier {
 public:
  // Waits for each of `expected` while its process lives, until `until_ns` at most. A trainer that
  // comes later does not pass through the barrier.
  ReattachBarrier(std::vector<Trainer> expected, std::uint64_t until_ns)
      : until_ns_(until_ns), expected_(std::move(expected)) {}

  // Whether this request has to pass through the barrier.
  bool collects(const shm::AttachRequest& request, std::uint64_t now_ns) const {
    return request.reattaching != 0 && now_ns < until_ns_;
  }
  void add(AttachCall call, std::uint64_t now_ns);
  // The trainer's connection was closed; false if it is not waiting here.
  bool withdraw(std::uint64_t connection);

  // All requests, smallest position first, once no trainer is expected any more and none came for
  // a moment, or the time is over; until then nothing.
  std::vector<AttachCall> take_due(std::uint64_t now_ns);
  // All requests at once.
  std::vector<AttachCall> take_all() { return std::exchange(waiting_, {}); }

  // Whether a trainer is expected or waits.
  bool is_open() const { return !expected_.empty() || !waiting_.empty(); }
  // Trainers that have not come yet; none once the time is over.
  const std::vector<Trainer>& expected() const { return expected_; }

 private:
  const std::uint64_t until_ns_;
  std::uint64_t last_came_ns_ = 0;
  std::vector<Trainer> expected_;
  std::vector<AttachCall> waiting_;
};

}  // namespace echoline::engine
