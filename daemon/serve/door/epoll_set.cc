#include "serve/door/epoll_set.h"

#include <sys/epoll.h>

#include <array>
#include <cerrno>

namespace echoline::serve {

Result<EpollSet> EpollSet::create() {
  EpollSet set;
  set.epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  if (!set.epoll_) return errno_status(errno, "creating an epoll set");
  return set;
}

Status EpollSet::add(int fd, std::uint64_t key, std::uint32_t events) const {
  return control(EPOLL_CTL_ADD, fd, key, events);
}

Status EpollSet::change(int fd, std::uint64_t key, std::uint32_t events) const {
  return control(EPOLL_CTL_MOD, fd, key, events);
}

Status EpollSet::control(int operation, int fd, std::uint64_t key, std::uint32_t events) const {
  epoll_event event{};
  event.events = events;
  event.data.u64 = key;
  if (epoll_ctl(epoll_.get(), operation, fd, &event) != 0)
    return errno_status(errno, "watching a socket");
  return {};
}

// A signal (EINTR) gives -1, and so an empty result.
std::vector<std::uint64_t> EpollSet::wait(int timeout_ms) const {
  std::array<epoll_event, kEventsMax> events{};
  const int count =
      epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  std::vector<std::uint64_t> keys;
  for (int i = 0; i < count; ++i) {
    // A copy: the kernel's structure is packed, so a reference into it could be misaligned.
    const std::uint64_t key = events[static_cast<std::size_t>(i)].data.u64;
    keys.push_back(key);
  }
  return keys;
}

}  // namespace echoline::serve
