// The descriptors that the door's thread waits for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"

namespace echoline::serve {

// The most keys that one wait() returns.
inline constexpr std::size_t kEventsMax = 64;

// An epoll set. Each descriptor has a key, which wait() returns when it is ready. A descriptor that
// is closed leaves the set. One thread.
class EpollSet {
 public:
  static Result<EpollSet> create();

  // `events` as in epoll_ctl, level-triggered.
  Status add(int fd, std::uint64_t key, std::uint32_t events) const;
  // Replaces the events of a descriptor in the set; 0 pauses it.
  Status change(int fd, std::uint64_t key, std::uint32_t events) const;
  // Keys of ready descriptors, at most kEventsMax; empty after the timeout or a signal.
  std::vector<std::uint64_t> wait(int timeout_ms) const;

 private:
  // One epoll_ctl.
  Status control(int operation, int fd, std::uint64_t key, std::uint32_t events) const;

  UniqueFd epoll_;
};

}  // namespace echoline::serve
