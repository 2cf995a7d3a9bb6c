// After a restart: the trainers of the daemon before come back one by one. They are collected until
// all that are known are there, so that their pass can begin at the smallest of their positions and
// all of them share it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/api/attach.h"
#include "engine/jobs/attached_trainers_file.h"

namespace echoline::engine {

// Not thread safe.
class ReattachBarrier {
 public:
  struct Returning {
    std::uint64_t connection = 0;
    shm::AttachRequest request{};
    Peer peer;
    ReplyFunction reply;
  };

  // `expected` are waited for while they live; who comes after `until_ns` finds a place of its own.
  ReattachBarrier(std::vector<Trainer> expected, std::uint64_t until_ns)
      : until_ns_(until_ns), expected_(std::move(expected)) {}

  bool awaits(const shm::AttachRequest& request, std::uint64_t now_ns) const {
    return request.reattaching != 0 && now_ns < until_ns_;
  }
  void add(Returning returning, std::uint64_t now_ns);
  // The trainer died while it waited; false if it was not waiting here.
  bool forget(std::uint64_t connection);

  // Everybody who waits, smallest position first, once nobody is expected any more and nobody came
  // for a moment, or the time is over; else nobody.
  std::vector<Returning> take_due(std::uint64_t now_ns);
  // Everybody who waits, whether their time has come or not.
  std::vector<Returning> take_all() { return std::exchange(waiting_, {}); }

  // Whether somebody is expected, or waits.
  bool is_open() const { return !expected_.empty() || !waiting_.empty(); }
  // Those that have not come yet; nobody once the time is over.
  const std::vector<Trainer>& expected() const { return expected_; }

 private:
  const std::uint64_t until_ns_;
  std::uint64_t last_came_ns_ = 0;
  std::vector<Trainer> expected_;
  std::vector<Returning> waiting_;
};

}  // namespace echoline::engine
