// Descriptors that one thread waits for, and a way for others to end its wait.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/unique_fd.h"

namespace echoline::source {

// One thread, but wake() may be called by any. The cost of a wait does not grow with the number of
// descriptors.
class PollSet {
 public:
  PollSet();

  // Waits for `events` (EPOLLIN, EPOLLOUT or both) of a descriptor from now on; 0 for none.
  void watch(int fd, std::uint32_t events);

  // What has happened, waiting for it until the deadline (monotonic_ns) or a wake; valid until the
  // next call.
  std::span<const epoll_event> wait(std::uint64_t deadline_ns);

  void wake();

 private:
  UniqueFd epoll_;
  UniqueFd event_;
  std::array<epoll_event, 256> events_{};
};

}  // namespace echoline::source
