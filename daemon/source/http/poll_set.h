// File descriptors that one thread waits for; other threads can end its wait.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/unique_fd.h"

namespace echoline::source {

// One thread, except wake(), which any thread may call. The cost of a wait does not grow with the
// number of descriptors.
class PollSet {
 public:
  // std::system_error: there are too few descriptors.
  PollSet();

  // Adds, changes or (with 0) removes a descriptor: `events` is EPOLLIN, EPOLLOUT or both.
  void watch(int fd, std::uint32_t events);

  // Waits for events until the deadline (monotonic_ns) or a wake. The result is valid until the
  // next call.
  std::span<const epoll_event> wait(std::uint64_t deadline_ns);

  void wake();

 private:
  UniqueFd epoll_;
  UniqueFd event_;
  std::array<epoll_event, 256> events_{};
};

}  // namespace echoline::source
