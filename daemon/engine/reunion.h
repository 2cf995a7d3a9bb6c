// After a restart: the trainers of the daemon before come back one by one. They are collected for a
// short while, so that their pass can begin at the smallest of their positions and all of them
// share it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/attach.h"

namespace echoline::engine {

// Not thread safe.
class Reunion {
 public:
  struct Returning {
    std::uint64_t connection = 0;
    shm::AttachRequest request{};
    ReplyFunction reply;
  };

  // Trainers that come after `until_ns` find their own place.
  explicit Reunion(std::uint64_t until_ns) : until_ns_(until_ns) {}

  bool awaits(const shm::AttachRequest& request, std::uint64_t now_ns) const {
    return request.reattaching != 0 && now_ns < until_ns_;
  }
  void add(Returning returning, std::uint64_t now_ns);
  // The trainer died while it waited; false if it was not waiting here.
  bool forget(std::uint64_t connection);

  // Everybody who waits, smallest position first, once every rank of their jobs is there and nobody
  // came for a moment, or the time is over; else nobody.
  std::vector<Returning> take_due(std::uint64_t now_ns);
  // Everybody who waits, whether their time has come or not.
  std::vector<Returning> take_all() { return std::exchange(waiting_, {}); }

 private:
  bool complete() const;

  const std::uint64_t until_ns_;
  std::uint64_t last_came_ns_ = 0;
  std::vector<Returning> waiting_;
};

}  // namespace echoline::engine
