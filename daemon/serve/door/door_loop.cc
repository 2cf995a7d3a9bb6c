#include "serve/door/door_loop.h"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace echoline::serve {
namespace {

// Keys of the epoll set below those of connections.
constexpr std::uint64_t kListenerKey = 0;
constexpr std::uint64_t kOutboxKey = 1;
static_assert(kOutboxKey < kFirstConnectionId);
// The longest sleep: rounds() must grow for the watchdog and for flush().
constexpr std::uint64_t kIdleNs = 200'000'000;

}  // namespace

Result<std::unique_ptr<DoorLoop>> DoorLoop::create(DoorAddress address,
                                                   engine::AttachHandler& handler,
                                                   std::shared_ptr<DoorOutbox> outbox) {
  ECHOLINE_ASSIGN(EpollSet epoll, EpollSet::create());
  std::unique_ptr<DoorLoop> loop(
      new DoorLoop(std::move(address), std::move(epoll), handler, std::move(outbox)));
  // Level-triggered, as all descriptors of this set.
  ECHOLINE_TRY(loop->acceptor_.start());
  ECHOLINE_TRY(loop->epoll_.add(loop->outbox_->event(), kOutboxKey, EPOLLIN));
  return loop;
}

DoorLoop::DoorLoop(DoorAddress address, EpollSet epoll, engine::AttachHandler& handler,
                   std::shared_ptr<DoorOutbox> outbox)
    : address_(std::move(address)),
      // The acceptor refers to the members before it.
      epoll_(std::move(epoll)),
      outbox_(std::move(outbox)),
      connections_(handler),
      messages_(handler, connections_, outbox_),
      acceptor_(address_, kListenerKey, epoll_, connections_, messages_) {}

void DoorLoop::run() {
  while (!outbox_->stopping()) do_work(timeout_ms(monotonic_ns()));
  // The last notices of a drain go out before the sockets close.
  messages_.deliver();
  // From now on replies are dropped; their trainers lose the connection below.
  outbox_->close();
  connections_.close_all();
}

void DoorLoop::do_work(int timeout_ms) {
  const auto keys = epoll_.wait(timeout_ms);
  const std::uint64_t now_ns = monotonic_ns();
  // A handler may close connections of later events; read() then finds nothing.
  for (const std::uint64_t key : keys) handle(key, now_ns);
  acceptor_.resume(now_ns);
  connections_.expire(now_ns);
  rounds_.fetch_add(1, std::memory_order_relaxed);
}

void DoorLoop::handle(std::uint64_t key, std::uint64_t now_ns) {
  if (key == kListenerKey) {
    acceptor_.accept_ready(now_ns);
  } else if (key == kOutboxKey) {
    messages_.deliver();
  } else {
    messages_.read(key);
  }
}

int DoorLoop::timeout_ms(std::uint64_t now_ns) const {
  std::uint64_t next = now_ns + kIdleNs;
  for (const auto deadline : {acceptor_.resume_at_ns(), connections_.next_deadline_ns()})
    if (deadline) next = std::min(next, *deadline);
  // Rounded up: a shorter wait would end before the deadline and do nothing.
  return next <= now_ns ? 0 : static_cast<int>((next - now_ns) / 1'000'000 + 1);
}

}  // namespace echoline::serve
