#include "source/http/poll_set.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>

#include "base/check.h"
#include "base/clock.h"

namespace echoline::source {
namespace {

int ms_until(std::uint64_t deadline_ns) {
  const std::uint64_t now = monotonic_ns();
  if (deadline_ns <= now) return 0;
  // Rounded up: a wait that ends too early would spin.
  const std::uint64_t ms = (deadline_ns - now - 1) / 1'000'000 + 1;
  return static_cast<int>(std::min<std::uint64_t>(ms, std::numeric_limits<int>::max()));
}

}  // namespace

PollSet::PollSet()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)), event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!epoll_ || !event_) throw std::system_error(errno, std::generic_category());
  watch(event_.get(), EPOLLIN);
}

void PollSet::watch(int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  if (events == 0) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, &event);
    return;
  }
  // epoll drops a closed descriptor, so a reused number may have to be added again.
  // libcurl does not say whether it knows the descriptor, so both are tried.
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) == 0) return;
  ECHOLINE_CHECK(errno == ENOENT && ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0);
}

std::span<const epoll_event> PollSet::wait(std::uint64_t deadline_ns) {
  const int count = ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()),
                                 ms_until(deadline_ns));
  const auto begin = events_.begin();
  // The own event is emptied here and not given to the caller.
  const auto end = std::remove_if(begin, begin + std::max(count, 0), [this](const auto& event) {
    if (event.data.fd != event_.get()) return false;
    eventfd_t wakes = 0;
    ::eventfd_read(event_.get(), &wakes);
    return true;
  });
  return {begin, end};
}

void PollSet::wake() { ::eventfd_write(event_.get(), 1); }

}  // namespace echoline::source
